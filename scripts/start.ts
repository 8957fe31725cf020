/** `npm start` after the set-up: creates a home if there is none, then runs the kernel in this process. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { runCli } from '../src/cli/cli.ts'
import { defaultHome } from '../src/config.ts'
import { homePaths } from '../src/home.ts'

const args = process.argv.slice(2)
const homeIndex = args.indexOf('--home')
const home = resolve((homeIndex < 0 ? undefined : args[homeIndex + 1]) ?? defaultHome())
const initExit = existsSync(homePaths(home).config) ? 0 : await runCli(['init', '--yes', '--home', home])
process.exitCode = initExit === 0 ? await runCli(['start', ...args]) : initExit
