"""`python -m ecs_audio` is the `ecs-audio` command."""

from ecs_audio.cli import main

if __name__ == "__main__":
    main()
