"""What sessions are kept in besides JSON lines, one file a kind; `table` alone knows them all."""
