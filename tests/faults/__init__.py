"""What a crash, a full disk and a flipped bit leave behind."""
