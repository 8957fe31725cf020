/** What people read when they open the page, press Ctrl-C, or watch several agents at once. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { MAIN, NODE_FLAGS } from './crash/kills.ts'
import { createHome, startKernelIn, tireless, waitForExit } from './support/command-line.ts'
import { endBeforeRemoving, freshFolder, waitUntil } from './support/open-app.ts'

/** Runs a program; `output` is what it has printed so far. */
function start(t: TestContext, home: string, [program = '', ...args]: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const end = async (): Promise<void> => {
    if (child.kill('SIGKILL')) await waitForExit(child)
  }
  endBeforeRemoving(home, end)
  t.after(end)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  return { child, output: () => output, shows: (pattern: RegExp) => waitUntil(() => pattern.test(output)) }
}

const commandLine = (home: string, ...args: string[]): string[] => [
  ...[process.execPath, ...NODE_FLAGS, MAIN, ...args],
  ...['--home', home],
]

/** A home in which the offline model runs commands. */
function homeWithCommands(t: TestContext): string {
  const home = freshFolder(t)
  writeFileSync(join(home, 'tireless.yaml'), 'sandbox: off\n')
  return home
}

const LINUX = process.platform === 'linux' ? false : 'the fake browser is called xdg-open'

test('open starts the browser with a link that logs in; without a terminal it prints the link', {
  skip: LINUX,
}, async (t) => {
  const home = await createHome(t, [])
  const refused = await tireless(home, 'open')
  assert.match(refused.stderr, /no kernel is running in this home; do this: run tireless start/)
  await startKernelIn(t, home)
  const printed = await tireless(home, 'open')
  assert.match(printed.stdout, /^Open this link .*\nhttp:\/\/127\.0\.0\.1:\d+\/#code=\w+\n$/)

  const programs = join(freshFolder(t), 'bin')
  const visited = join(programs, 'visited')
  mkdirSync(programs)
  writeFileSync(join(programs, 'xdg-open'), `#!/bin/sh\necho "$1" > ${visited}\n`)
  chmodSync(join(programs, 'xdg-open'), 0o755)
  const env = { PATH: `${programs}:${process.env.PATH}`, DISPLAY: ':0', LC_ALL: 'zh_CN.UTF-8' }
  const onTerminal = ['script', '-qec', commandLine(home, 'open').join(' '), '/dev/null']
  const shown = start(t, home, onTerminal, env)
  assert.equal(await waitForExit(shown.child), 0)
  assert.match(shown.output(), /(^|\n)已在浏览器中打开 http:\/\/127\.0\.0\.1:\d+。/)
  assert.match(readFileSync(visited, 'utf8'), /^http:\/\/127\.0\.0\.1:\d+\/#code=\w+\n$/)
})

test('Ctrl-C in run and start says that steps may finish, and how to go on', async (t) => {
  const home = homeWithCommands(t)
  const task = 'Run `sleep 1; echo slept`. Then write "a" to a.md.'
  const running = start(t, home, commandLine(home, 'run', task))
  await running.shows(/bash \{"command"/)
  running.child.kill('SIGINT')
  assert.equal(await waitForExit(running.child), 3)
  assert.match(running.output(), /\nStopping; running steps may finish\. Ctrl-C again interrupts them\./)
  assert.match(running.output(), /nothing is lost\. To go on with [0-9a-f]{8}: tireless start --until-idle\n/)

  const kernel = start(t, home, commandLine(home, 'start'), { LC_ALL: 'zh_CN.UTF-8' })
  await kernel.shows(/ended: final/)
  kernel.child.kill('SIGINT')
  assert.equal(await waitForExit(kernel.child), 0)
  assert.match(kernel.output(), /\n正在停止；.*\n(.*\n)*已停止；没有剩余任务。\n/)
})

test('Ctrl-C in attach, and in a run that a kernel does, says that the kernel continues', async (t) => {
  const home = homeWithCommands(t)
  await startKernelIn(t, home)
  const attached = start(t, home, commandLine(home, 'attach'))
  await attached.shows(/Kernel default is running/)
  const waiting = start(t, home, commandLine(home, 'run', 'Run `sleep 2; echo slept`.'))
  await waiting.shows(/bash \{"command"/)
  waiting.child.kill('SIGINT')
  assert.equal(await waitForExit(waiting.child), 1)
  assert.match(
    waiting.output(),
    /\naborted: you stopped waiting, and the kernel continues; do this: .*tireless queue list/,
  )
  attached.child.kill('SIGINT')
  assert.equal(await waitForExit(attached.child), 0)
  assert.match(attached.output(), /\nThe kernel continues\. Follow it again: tireless attach\./)
  await waitUntil(async () => / done {3}/.test((await tireless(home, 'queue', 'list')).stdout))
})

test('of several agents at once, the last one keeps its name in each line', async (t) => {
  const home = homeWithCommands(t)
  await tireless(home, 'enqueue', 'Run `sleep 1; echo slow`. Then write "a" to a.md.')
  await tireless(home, 'enqueue', 'Write "b" to b.md.')
  const { stderr } = await tireless(home, 'start', '--until-idle')
  const afterFirstEnd = stderr.slice(stderr.indexOf('ended: final'))
  assert.match(afterFirstEnd, /\ndefault step 2 /)
  assert.doesNotMatch(afterFirstEnd, /^step \d/m)
})

test('a call that a crash interrupted is shown once when another process continues the run', async (t) => {
  const home = homeWithCommands(t)
  const work = freshFolder(t, 'work')
  const task = 'Run `echo now > started; sleep 5`. Then write "a" to a.md.'
  const running = start(t, home, commandLine(home, 'run', task, '--workspace', work))
  await waitUntil(() => existsSync(join(work, 'started')))
  running.child.kill('SIGKILL')
  await waitForExit(running.child)
  const { stderr } = await tireless(home, 'start', '--until-idle')
  assert.deepEqual(stderr.match(/^.*unknown This call was interrupted/gm), [
    'step 1 bash unknown This call was interrupted',
  ])
})
