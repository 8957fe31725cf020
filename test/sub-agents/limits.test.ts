/** What a sub-agent may do and spend is never more than its parent; the end of the parent is its end. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Usage } from '../../src/domain/journal-record.ts'
import {
  calling,
  type Family,
  familyModel,
  finishing,
  openFamily,
  resultsRead,
  spawning,
  WAIT_FOR_AGENTS,
} from '../support/agent-family.ts'
import { fakeTool, resultsOf, untilAborted } from '../support/fake-tools.ts'
import { dispatchOf, journalOf, waitUntil } from '../support/open-app.ts'

const setupOf = async ({ app }: Family, session: string) => {
  const [started] = (await journalOf(app, session)).flatMap((record) => (record.kind === 'run_started' ? [record] : []))
  return started?.setup
}

describe('limits of sub-agents', () => {
  test('case 115: the tools are a part of the parent’s; task, label and todo come with the run', async (t) => {
    const lead = ['spawn_agent', 'view_file', 'todo_add', 'wait', 'finish', 'poke']
    const poke = fakeTool({ run: () => 'text of a stranger', gives: () => ({ trust: 'untrusted', private: true }) })
    const family = await openFamily(
      t,
      {
        lead: [
          calling('poke'),
          calling('todo_add', { title: 'look', checks: [{ kind: 'file', path: 'seen.txt' }] }),
          spawning({ task: 'helper: look', todo: 'T009' }),
          spawning({ task: 'helper: look', todo: 'T001' }),
          WAIT_FOR_AGENTS,
        ],
      },
      { tools: lead, toolsToAdd: [poke] },
    )
    const { session_id } = await family.run()
    const [child] = await family.children()
    const tools = (await setupOf(family, child?.session_id ?? ''))?.tools ?? []
    assert.deepEqual([...tools].sort(), ['finish', 'poke', 'view_file', 'wait'])
    const [first] = (await journalOf(family.app, child?.session_id ?? '')).flatMap((record) =>
      record.kind === 'input_bound' ? record.input : [],
    )
    assert.deepEqual([first?.words, first?.label], ['model', { trust: 'untrusted', private: true }])
    assert.match(child?.prompt ?? '', /^helper: look\n\n.*checks pass:\n- .*seen\.txt/)
    const [refused] = (await resultsOf(family.app, session_id)).filter(({ status }) => status === 'error')
    assert.match(refused?.content ?? '', /no such todo; got T009/)
    const [result] = await resultsRead(family.app, session_id)
    assert.deepEqual([result?.todo, result?.agent], ['T001', 'default'])
  })

  test('case 115: the child of a run without write access cannot write either', async (t) => {
    const family = await openFamily(
      t,
      {
        lead: [spawning('helper: write'), WAIT_FOR_AGENTS],
        'helper:': [calling('create_file', { path: 'a.txt', content: 'a' })],
      },
      { access: 'read_only' },
    )
    await family.run()
    const [child] = await family.children()
    const [result] = await resultsOf(family.app, child?.session_id ?? '')
    assert.equal(result?.status, 'error')
    assert.match(result?.content ?? '', /read-only|may not/)
  })

  test('case 117: finish is refused once while children are open; a second finish cancels them', async (t) => {
    const family = await openFamily(
      t,
      { lead: [spawning('slow: wait'), finishing('early'), finishing('anyway')], 'slow:': [calling('poke')] },
      { toolsToAdd: [fakeTool({ run: untilAborted })], tools: ['spawn_agent', 'poke', 'wait', 'finish'] },
    )
    const { answer, status, session_id } = await family.run()
    assert.deepEqual([status, answer], ['done', 'anyway'])
    const [child] = await family.children()
    const told = family.model.requests.find(({ messages }) =>
      JSON.stringify(messages.at(-1)).includes('Not finished yet'),
    )
    assert.ok(JSON.stringify(told?.messages.at(-1)).includes(child?.dispatch_id ?? '?'))
    await waitUntil(async () => (await dispatchOf(family.app, child?.dispatch_id ?? '')).status === 'cancelled')
    const [late] = await family.app.service('store').inbox(session_id)
    assert.deepEqual([late?.id, late?.quiet], [`agent-result-${child?.dispatch_id}`, true])
    assert.equal((await family.app.service('store').dispatches({ limit: 9 })).length, 2)
  })
})

describe('the end of a parent', () => {
  test('case 117: a parent that waits does not stop its children; a cancelled one does', async (t) => {
    const family = await openFamily(
      t,
      { lead: [spawning('slow: wait', 'quick: go'), WAIT_FOR_AGENTS, WAIT_FOR_AGENTS], 'slow:': [calling('poke')] },
      { toolsToAdd: [fakeTool({ run: untilAborted })], tools: ['spawn_agent', 'poke', 'wait', 'finish'] },
    )
    const ended = family.run()
    const statuses = async () => (await family.children()).map(({ status }) => status)
    await waitUntil(async () => (await statuses()).join(' ') === 'running done')
    const [slow] = await family.children()
    await waitUntil(async () => (await dispatchOf(family.app, slow?.parent_id ?? '')).status === 'waiting')
    const { items } = await family.app.run('queue cancel', { id: slow?.parent_id ?? '' })
    assert.equal(items.length, 2)
    assert.equal((await ended).status, 'cancelled')
    assert.deepEqual(await statuses(), ['cancelled', 'done'])
  })
})

describe('the steps of a run with sub-agents', () => {
  const stepsOf = async (family: Family): Promise<number> => {
    const { session_id } = await family.run()
    return (await journalOf(family.app, session_id)).filter(({ kind }) => kind === 'step_committed').length
  }
  const yaml = 'budget: { per_dispatch_calls: 2 }\n'

  test('a wait for sub-agents of which there are none counts as a step', async (t) => {
    const family = await openFamily(t, { lead: [WAIT_FOR_AGENTS, WAIT_FOR_AGENTS, WAIT_FOR_AGENTS] }, { yaml })
    assert.equal(await stepsOf(family), 2)
  })

  test('in its last step a run can finish although sub-agents are open; they are cancelled', async (t) => {
    const family = await openFamily(
      t,
      { lead: [spawning('slow: wait'), finishing('early')], 'slow:': [calling('poke')] },
      { yaml, toolsToAdd: [fakeTool({ run: untilAborted })], tools: ['spawn_agent', 'poke', 'wait', 'finish'] },
    )
    assert.equal(await stepsOf(family), 2)
    assert.deepEqual(
      (await family.children()).map(({ status }) => status),
      ['cancelled'],
    )
  })
})

const USAGE: Usage = { input_tokens: 10_000, output_tokens: 0, cached_tokens: 0 }

describe('the budget of sub-agents', () => {
  test('case 114: children get what is left, one after the other; what they do not spend comes back', async (t) => {
    const roles = {
      lead: [
        { ...spawning({ task: 'cheap: a', budget: 0.4 }, { task: 'rest: b', budget: 5 }, 'none: c'), usage: USAGE },
        { ...WAIT_FOR_AGENTS, usage: USAGE },
        { ...WAIT_FOR_AGENTS, usage: USAGE },
        { ...spawning({ task: 'again: d', budget: 5 }), usage: USAGE },
        { ...WAIT_FOR_AGENTS, usage: USAGE },
        { ...finishing('lead is done'), usage: USAGE },
      ],
      'cheap:': [{ ...finishing('cheap'), usage: USAGE }],
      'rest:': [{ ...finishing('rest'), usage: USAGE }],
      'again:': [{ ...finishing('again'), usage: USAGE }],
    }
    // A request of one byte per token costs at most a few cents; an answer costs nothing.
    const model = { ...familyModel(roles), price: { input: 1, output: 0, max_output: 100 } }
    const family = await openFamily(t, roles, { model, yaml: 'budget: { per_dispatch_usd: 1 }\n' })
    const { session_id, status } = await family.run()
    assert.equal(status, 'done')
    const spawned = (await resultsOf(family.app, session_id)).filter(({ facts }) =>
      JSON.stringify(facts)?.includes('spawned'),
    )
    const given = spawned.map(({ facts }) => (facts as { spawned: { usd: number } }).spawned.usd)
    const [cheap = 0, rest = 0, again = 0] = given
    assert.equal(cheap, 0.4)
    assert.ok(rest < 0.6 && rest > 0.4, `the second child got ${rest}`)
    assert.ok(again > 0.8 && again < 1, `after both results, the third got ${again}`)
    const refused = (await resultsOf(family.app, session_id)).find(({ status }) => status === 'error')
    assert.match(refused?.content ?? '', /budget of this run is too low/)
    assert.deepEqual(
      (await resultsRead(family.app, session_id)).map(({ cost_usd }) => cost_usd),
      [0.01, 0.01, 0.01],
    )
  })

  test('case 114: a child over its budget fails with a result like any other', async (t) => {
    const roles = {
      lead: [spawning({ task: 'greedy: spend', budget: 0.05 }), WAIT_FOR_AGENTS],
      'greedy:': Array.from({ length: 9 }, (_, n) => ({ ...calling('view_file', { path: `${n}` }), usage: USAGE })),
    }
    const model = { ...familyModel(roles), price: { input: 1, output: 0, max_output: 100 } }
    const family = await openFamily(t, roles, { model, yaml: 'budget: { per_dispatch_usd: 1 }\n' })
    const { session_id, status } = await family.run()
    assert.equal(status, 'done')
    const [result] = await resultsRead(family.app, session_id)
    assert.equal(result?.status, 'failed')
    assert.match(String(result?.error), /budget/)
    assert.ok(Number(result?.cost_usd) > 0 && Number(result?.cost_usd) <= 0.05)
  })
})
