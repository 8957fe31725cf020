/** What `npm run demo` shows: a task whose process is killed with -9 in the middle, and what Tireless makes of that. */

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { styleText } from 'node:util'

const CLI = join(import.meta.dirname, '../src/cli/main.ts')
const TASK =
  'Create report.md with the text "Ticks of this morning". Run `for i in 1 2 3 4 5 6; do echo tick $i >> ticks.txt; sleep 1; done`. Show ticks.txt.'

const home = mkdtempSync(join(tmpdir(), 'tireless-demo-'))
const ticks = join(home, 'work', 'ticks.txt')
writeFileSync(join(home, 'tireless.yaml'), 'sandbox: off # a demonstration: the agent may run commands as you\n')

const say = (text: string): void => console.log(`\n${styleText('bold', text)}`)

/** Runs a command of the command line, its output passing through; `onOutput` may end it. */
function tireless(args: readonly string[], onOutput: (kill: () => void) => void = () => {}): Promise<number | null> {
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      CLI,
      ...args,
      '--home',
      join(home, 'home'),
      '--config',
      join(home, 'tireless.yaml'),
    ],
    {
      stdio: ['ignore', 'inherit', 'pipe'],
      env: { ...process.env, ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}) },
    },
  )
  child.stderr.setEncoding('utf8').on('data', (text: string) => process.stdout.write(text))
  const watching = setInterval(() => onOutput(() => child.kill('SIGKILL')), 100)
  return new Promise((resolve) =>
    child.once('close', (exit) => {
      clearInterval(watching)
      resolve(exit)
    }),
  )
}

const linesIn = (file: string): number => {
  try {
    return readFileSync(file, 'utf8').split('\n').length - 1
  } catch {
    return 0
  }
}

try {
  say('1. A task begins.')
  await tireless(['run', TASK, '--workspace', join(home, 'work')], (kill) => {
    if (linesIn(ticks) >= 2) kill()
  })
  say(
    '2. The process was killed with -9 in the middle of a command. The command itself still runs, and nobody watches it.',
  )
  say(
    '3. A new process goes on where the old one stopped: it ends the orphan, repeats nothing, pays for no answer twice.',
  )
  await tireless(['start', '--until-idle'])
  say('4. What became of it:')
  await tireless(['queue', 'list'])
  await tireless(['unknowns', 'list'])
  say('Try your own:  ./bin/tireless run "Create hello.md with the text \\"hello\\". Then list the files."')
} finally {
  rmSync(home, { recursive: true, force: true })
}
