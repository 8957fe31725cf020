#!/usr/bin/env node
/** Entry point of the command line. */

import { runCli } from './cli.ts'

process.exitCode = await runCli(process.argv.slice(2))
