"""python3 -m spotter: the command."""
import sys

import spotter_program

sys.exit(spotter_program.main())
