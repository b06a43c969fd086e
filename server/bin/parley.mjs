#!/usr/bin/env node
// The parley command: brings the right Node if need be, then runs server/src/main.ts.
import '../../scripts/launch.mjs'
