/** Where new users stumbled: what the command line says instead of leaving them in the dark. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { render } from '../src/cli/views/views.ts'
import { writePromptForSentence } from '../src/commands/lib/parse-agent-sentence.ts'
import type { Progress } from '../src/commands/lib/progress.ts'
import { titleOf } from '../src/domain/title.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { NODE_FLAGS } from './crash/kills.ts'
import { tireless } from './support/command-line.ts'
import { freshFolder, openApp } from './support/open-app.ts'
import { noPseudoTerminal, PseudoTerminal } from './support/pseudo-terminal.ts'

const notesOf = (told: readonly Progress[]): string =>
  told.flatMap((one) => (one.kind === 'note' ? [one.text] : [])).join('\n')

const AGENTS = `kernel:
  planner: { mode: static }
  agents:
    - { agent_id: often, prompt: "look" }
    - { agent_id: watcher, prompt: "watch", only_on_change: true }
`

test('a task that the offline model does not understand is done, with a last line that says so', async (t) => {
  const home = freshFolder(t)
  const { exit, stdout } = await tireless(home, 'run', 'compose a symphony')
  assert.equal(exit, 0, 'decision 47: in doubt the run is done')
  assert.match(stdout.trimEnd().split('\n').at(-1) ?? '', /^NOTHING WAS DONE: the offline model did not understand/)
  const part = await tireless(home, 'run', 'create a.txt with the content "x". Compose a symphony.')
  assert.match(part.stdout.trimEnd().split('\n').at(-1) ?? '', /^NOT ALL WAS DONE/)
  const whole = await tireless(home, 'run', 'create b.txt with the content "x"')
  assert.doesNotMatch(whole.stdout, /WAS DONE/)
})

test('agent list says which agents run only on changes; resume says that nothing was paused', async (t) => {
  const app = await openApp(t, { yaml: AGENTS })
  const listed = render('agent list', await app.run('agent list', {}))
  assert.match(listed, /often +at every beat of the kernel/)
  assert.match(listed, /watcher +only if something changes/)
  assert.match(render('resume', await app.run('resume', {})), /^Nothing to resume: the kernel was not paused\./)
  await app.run('pause', {})
  assert.match(render('resume', await app.run('resume', {})), /^Resumed: agents run by their schedules again\./)
})

test('with another planner than the static one, every agent without a schedule runs only on changes', async (t) => {
  const app = await openApp(t, { yaml: AGENTS.replace('static', 'hybrid') })
  assert.match(render('agent list', await app.run('agent list', {})), /often +only if something changes/)
})

test('a run of an agent that was made from a sentence is titled with the sentence', () => {
  for (const sentence of ['report on my repository every morning', '每天早上汇报仓库的变化'])
    assert.equal(titleOf(writePromptForSentence(sentence, true)), sentence)
})

test('a workspace folder that had to be created is named, with the one that was probably meant', async (t) => {
  const [home, place] = [freshFolder(t), freshFolder(t, 'place')]
  mkdirSync(join(place, 'project'))
  const typed = await tireless(home, 'run', 'create a.txt with the content "x"', '--workspace', join(place, 'projcet'))
  assert.match(typed.stderr, /Created \S+projcet, which did not exist; did you mean \S+project\? It exists\./)
  const known = await tireless(home, 'run', 'create a.txt with the content "x"', '--workspace', join(place, 'project'))
  assert.doesNotMatch(known.stderr, /did not exist/)
})

/** A model whose first task waits until it is told to go on. */
function heldModel() {
  const [asked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const scripted = scriptedModel(() => ({ text: 'Done.' }))
  const call: typeof scripted.call = async (request, ...more) => {
    if (JSON.stringify(request.messages).includes('the first')) {
      asked.resolve()
      await goOn.promise
    }
    return scripted.call(request, ...more)
  }
  return { model: { ...scripted, call }, asked: asked.promise, goOn: goOn.resolve }
}

test('run says that it waits for another run in the same folder', async (t: TestContext) => {
  const { model, asked, goOn } = heldModel()
  const app = await openApp(t, { model })
  const workspace = freshFolder(t, 'shared')
  const first = app.run('run', { task: 'the first', workspace })
  await asked
  const told: Progress[] = []
  const second = app.run('run', { task: 'the second', workspace }, (progress) => {
    told.push(progress)
    if (/Waits for run/.test(notesOf(told))) goOn()
  })
  await Promise.all([first, second])
  assert.match(notesOf(told), /Waits for run [0-9a-f]{8}, which works in the same folder: the first/)
})

test('a library program beside a running kernel ends with a message, without a stack', async (t) => {
  const home = freshFolder(t)
  await openApp(t, { home })
  const library = new URL('../src/index.ts', import.meta.url)
  const program = `import { runTask } from '${library}'\nawait runTask('a', { home: '${home}' })`
  const file = join(home, 'program.mjs')
  writeFileSync(file, program)
  const { status, stderr } = spawnSync(process.execPath, [...NODE_FLAGS, file], { encoding: 'utf8' })
  assert.notEqual(status, 0)
  assert.match(
    stderr,
    /TirelessError \[home_locked\]: .*another process holds the home.*; do this: send the task to the/,
  )
  assert.doesNotMatch(stderr, /^ +at /m)
})

test('agent delete answered with n says that nothing was done, without an error code', {
  skip: noPseudoTerminal,
}, async (t) => {
  const home = freshFolder(t)
  await tireless(home, 'agent', 'new', 'write a poem every morning', '--id', 'poet')
  const env = { PATH: process.env.PATH, HOME: home, TERM: 'xterm', COLUMNS: '200', LANG: 'en_US.UTF-8' }
  const asked = { sees: /Go on\? \[y\/N\] /, types: 'n\r' }
  const { exit, screen } = await new PseudoTerminal(home, env).converse(`tireless agent delete poet --home ${home}`, [
    asked,
  ])
  assert.equal(exit, 1)
  assert.match(screen, /Cancelled; nothing was done\./)
  assert.doesNotMatch(screen, /confirmation_needed/)
})
