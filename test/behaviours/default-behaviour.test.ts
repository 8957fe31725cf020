/** With which behaviour `run` begins, if the caller names none. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runTask } from '../../src/index.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { createHome, tireless, tirelessJson } from '../support/command-line.ts'
import { freshFolder } from '../support/open-app.ts'

interface Ran {
  readonly session_id: string
  readonly status: string
  readonly error: string | null
}

/** The behaviours of the session's runs, in order. */
async function behavioursOf(home: string, session: string): Promise<readonly string[]> {
  const { journal } = await tirelessJson<{ journal: { kind: string; behaviour?: string }[] }>(
    home,
    'sessions',
    'show',
    session,
  )
  return journal.flatMap(({ behaviour }) => behaviour ?? [])
}

describe('the default behaviour of run', () => {
  test('O2: with a configured model, run plans; --behaviour solo works in one go', async (t) => {
    const home = await createHome(t, [{ text: 'forty-two' }])
    const planned = await tirelessJson<Ran>(home, 'run', 'think')
    assert.deepEqual(await behavioursOf(home, planned.session_id), ['plan'])
    const alone = await tirelessJson<Ran>(home, 'run', 'think', '--behaviour', 'solo')
    assert.deepEqual(await behavioursOf(home, alone.session_id), ['solo'])
    const { stdout } = await tireless(home, 'run', '--help')
    assert.match(stdout, /--behaviour <\w+> +the behaviour to start with: plan, solo or your own/)
  })

  test('the offline model works in one go, also as the model of one agent or one run', async (t) => {
    const offline = freshFolder(t)
    const ran = await tirelessJson<Ran>(offline, 'run', 'Create a.md with the text "a".')
    assert.deepEqual([ran.status, await behavioursOf(offline, ran.session_id)], ['done', ['solo']])
    const home = await createHome(t, [{ text: 'x' }])
    const named = await tirelessJson<Ran>(home, 'run', 'Create a.md with the text "a".', '--model', 'offline/rules')
    assert.deepEqual(await behavioursOf(home, named.session_id), ['solo'])
  })

  test('a program that brings its own model works in one go', async (t) => {
    const model = scriptedModel([{ text: 'forty-two' }])
    const { answer } = await runTask('think', { home: freshFolder(t), model })
    assert.equal(answer, 'forty-two')
    assert.doesNotMatch(model.requests[0]?.system ?? '', /You plan/)
  })

  test('O2: PLAN that claims a file which the task asks for is reminded once, then the run has failed', async (t) => {
    const home = await createHome(t, [{ text: 'I wrote report.md.' }, { text: 'report.md is written.' }])
    const { status, error } = await tirelessJson<Ran>(home, 'run', 'Save what you find to report.md')
    assert.equal(status, 'failed')
    assert.match(String(error), /report\.md, but no call of the run wrote it\. The answer was: report\.md is written/)
  })
})
