"""What Gemini CLI and Qwen Code share: messages made of parts, the tools, and the words put between a person's."""
