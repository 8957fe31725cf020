/** `npm run demo`: kills the process of a task with -9, and shows how Tireless recovers. */

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { styleText } from 'node:util'

const CLI = join(import.meta.dirname, '../src/cli/main.ts')
const COMMAND = 'for i in 1 2 3 4 5 6; do echo tick $i >> ticks.txt; sleep 1; done'
const TASK = `Create report.md with the text "Ticks of this morning". Run \`${COMMAND}\`. Show ticks.txt.`

const home = mkdtempSync(join(tmpdir(), 'tireless-demo-'))
const ticks = join(home, 'work', 'ticks.txt')
writeFileSync(join(home, 'tireless.yaml'), 'sandbox: off # only for this demo: commands run with all your rights\n')

const say = (text: string): void => console.log(`\n${styleText('bold', text)}`)

/** Runs a Tireless command and shows its output. `onTick` is called regularly and may kill it. */
function tireless(args: readonly string[], onTick: (kill: () => void) => void = () => {}): Promise<number | null> {
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
  const watching = setInterval(() => onTick(() => child.kill('SIGKILL')), 100)
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
  say('1. A task starts.')
  await tireless(['run', TASK, '--workspace', join(home, 'work')], (kill) => {
    if (linesIn(ticks) >= 2) kill()
  })
  say('2. The process was killed with -9 in the middle of a command. The command itself is still running.')
  say(
    '3. A new process continues the task: it ends the orphaned command, repeats nothing and pays for no answer twice.',
  )
  await tireless(['start', '--until-idle'])
  say('4. The result:')
  await tireless(['queue', 'list'])
  await tireless(['unknowns', 'list'])
  say('Try your own task:  ./bin/tireless run "Create hello.md with the text \\"hello\\". Then list the files."')
} finally {
  rmSync(home, { recursive: true, force: true })
}
