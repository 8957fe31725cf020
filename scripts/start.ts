/** What `npm start` runs once everything is set up: a home where there is none, then the kernel, in this very process. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { runCli } from '../src/cli/cli.ts'
import { defaultHome } from '../src/config.ts'
import { homePaths } from '../src/home.ts'

const args = process.argv.slice(2)
const named = args.indexOf('--home')
const home = resolve((named < 0 ? undefined : args[named + 1]) ?? defaultHome())
const begun = existsSync(homePaths(home).config) ? 0 : await runCli(['init', '--yes', '--home', home])
process.exitCode = begun === 0 ? await runCli(['start', ...args]) : begun
