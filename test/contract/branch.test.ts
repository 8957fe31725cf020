import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ProposedDecision } from '../../src/ports/behaviour.ts'
import type { BranchCandidate, BranchSearch } from '../../src/ports/branch-search.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { replayRun } from '../support/approval-fixtures.ts'
import { eventNames, openRecordedApp } from '../support/event-recorder.ts'
import { fakeBehaviour, fakeTool, lastMessageIn, recordsOf } from '../support/fake-tools.ts'
import { openApp, runTaskIn } from '../support/open-app.ts'

const finalDecision = (answer: string): ProposedDecision => ({ kind: 'final', answer })
const branch = (...answers: string[]): ProposedDecision => ({ kind: 'branch', candidates: answers.map(finalDecision) })
const labelOf = (candidate: BranchCandidate): string => (candidate.kind === 'final' ? candidate.answer : candidate.kind)

/** Scores by length; prunes candidates of at most three letters. */
const longest: BranchSearch = {
  name: 'longest',
  score: (_, candidate) => labelOf(candidate).length,
  prune: (_, __, score) => score <= 3,
}

const OWN = { behaviour: 'own' }

describe('branch decisions', () => {
  test('case 19, Q16: a search expands, scores, prunes, then selects; the choice is recorded', async (t) => {
    const log: string[] = []
    const search: BranchSearch = {
      name: 'noisy',
      expand: (_, candidates) => {
        log.push(`expand ${candidates.map(labelOf).join(' ')}`)
        return [...candidates, finalDecision('elderberry'), finalDecision('fig')]
      },
      score: (_, candidate) => {
        log.push(`score ${labelOf(candidate)}`)
        return labelOf(candidate).length
      },
      prune: (_, candidate, score) => {
        log.push(`prune ${labelOf(candidate)}`)
        return score <= 3
      },
      select: (_, scored) => {
        log.push(`select ${scored.map(({ candidate }) => labelOf(candidate)).join(' ')}`)
        return 1
      },
    }
    const app = await openApp(t, { behaviours: [fakeBehaviour({ search, decide: () => branch('kiwi', 'plum') })] })
    const result = await runTaskIn(app, 'choose', OWN)
    assert.equal(result.answer, 'plum')
    assert.deepEqual(log, [
      'expand kiwi plum',
      ...['score kiwi', 'score plum', 'score elderberry', 'score fig'],
      ...['prune kiwi', 'prune plum', 'prune elderberry', 'prune fig'],
      'select kiwi plum elderberry',
    ])
    const branched = (await recordsOf(app, result.session_id, 'branched')).map(({ scores, chosen }) => [scores, chosen])
    assert.deepEqual(branched, [[[4, 4, 10, 3], 1]])
  })

  test('Q16: without select the first best score wins; without a search the first candidate', async (t) => {
    for (const [search, chosen] of [
      [longest, 'plums'],
      [undefined, 'fig'],
    ] as const) {
      const own = fakeBehaviour({ ...(search ? { search } : {}), decide: () => branch('fig', 'plums', 'pears') })
      const app = await openApp(t, { behaviours: [own] })
      assert.equal((await runTaskIn(app, 'choose', OWN)).answer, chosen)
    }
  })

  test('Q16: of candidates that act only the calls of the selected one are executed', async (t) => {
    const poke = fakeTool()
    const acting = (n: number): ProposedDecision => ({ kind: 'act', calls: [{ tool: 'poke', args: { n } }] })
    const own = fakeBehaviour({
      tools: ['poke'],
      initState: () => 0,
      search: { name: 'last', score: () => 0, select: (_, scored) => scored.length - 1 },
      decide: (state) => (state === 0 ? { kind: 'branch', candidates: [acting(1), acting(2)] } : finalDecision('done')),
      reduce: () => 1,
    })
    const app = await openApp(t, { behaviours: [own], tools: [poke] })
    assert.equal((await runTaskIn(app, 'choose', OWN)).status, 'done')
    assert.deepEqual(poke.receivedArgs, [{ n: 2 }])
  })

  test('an invalid candidate is dropped with a diagnosis; one of the others is selected', async (t) => {
    const unknown: ProposedDecision = { kind: 'act', calls: [{ tool: 'no_such_tool' }] }
    const own = fakeBehaviour({
      search: longest,
      decide: () => ({
        kind: 'branch',
        candidates: [unknown, finalDecision('plum'), 42 as never, finalDecision('elderberry')],
      }),
    })
    const app = await openApp(t, { behaviours: [own] })
    const { status, answer, session_id, dispatch_id } = await runTaskIn(app, 'choose', OWN)
    assert.deepEqual({ status, answer }, { status: 'done', answer: 'elderberry' })
    const diagnoses = (await recordsOf(app, session_id, 'diagnosed')).map(({ message }) => message)
    assert.deepEqual(diagnoses.length, 2)
    assert.match(diagnoses.join('\n'), /no_such_tool.*42/s)
    assert.equal((await replayRun(app, dispatch_id)).identical, true)
  })

  test('events and trace show ACT when the search selects an acting candidate of its own', async (t) => {
    const acting: ProposedDecision = { kind: 'act', calls: [{ tool: 'poke', args: { n: 7 } }] }
    const own = fakeBehaviour({
      tools: ['poke'],
      initState: () => 0,
      search: { name: 'replacing', expand: () => [acting], score: () => 0 },
      decide: (state) => (state === 0 ? branch('plum', 'pear') : finalDecision('done')),
      reduce: () => 1,
    })
    const poke = fakeTool()
    const { app, events } = await openRecordedApp(t, { behaviours: [own], tools: [poke] })
    const { status, dispatch_id } = await runTaskIn(app, 'choose', OWN)
    assert.deepEqual({ status, receivedArgs: poke.receivedArgs }, { status: 'done', receivedArgs: [{ n: 7 }] })
    assert.deepEqual(eventNames(events.filter(({ step_id, phase }) => step_id === 1 && phase === 'ACT')), [
      'ACT start',
      'ACT action_results',
    ])
    await app.close()
    const [step] = (await app.context.traces.read(dispatch_id)).steps
    assert.deepEqual(
      { actions: step?.actions, action_results: step?.action_results.length },
      { actions: [{ tool: 'poke', args: { n: 7 } }], action_results: 1 },
    )
  })

  test('case 19: when all candidates are pruned, that is recorded and the model decides again', async (t) => {
    let decideCalls = 0
    const own = fakeBehaviour({
      search: longest,
      decide: () => (decideCalls++ === 0 ? branch('fig', 'nut') : undefined),
    })
    const model = scriptedModel([{ text: 'something else' }])
    const app = await openApp(t, { model, behaviours: [own] })
    const result = await runTaskIn(app, 'choose', OWN)
    assert.equal(result.answer, 'something else')
    assert.match(lastMessageIn(model, 0), /all 2 candidates were pruned/)
    assert.partialDeepStrictEqual(await recordsOf(app, result.session_id, 'branched'), [
      { scores: [3, 3], chosen: null },
    ])
  })

  test('case 19: when all candidates are pruned three times, the run fails without waiting', async (t) => {
    const app = await openApp(t, { behaviours: [fakeBehaviour({ search: longest, decide: () => branch('fig') })] })
    const result = await runTaskIn(app, 'choose', OWN)
    assert.deepEqual(
      { status: result.status, stop_reason: result.stop_reason, wait: result.wait },
      { status: 'failed', stop_reason: 'unrecoverable_error', wait: null },
    )
    assert.equal((await recordsOf(app, result.session_id, 'branched')).length, 3)
  })

  const brokenSearches: readonly [string, BranchSearch, RegExp][] = [
    [
      'an invalid candidate',
      { name: 'wild', score: () => 0, expand: () => [{ kind: 'act', calls: [{ tool: 'nope' }] }] },
      /no tool .*nope/,
    ],
    [
      'a branch as a candidate',
      { name: 'deep', score: () => 0, expand: () => [branch('a')] },
      /must not contain another branch/,
    ],
    ['an index out of range', { name: 'lost', score: () => 0, select: () => 7 }, /7/],
    [
      'an exception',
      {
        name: 'throwing',
        score: () => {
          throw new Error('score failed')
        },
      },
      /score failed/,
    ],
  ]
  for (const [name, search, reason] of brokenSearches)
    test(`Q16: a search that yields ${name} is reported to the model; no call is executed`, async (t) => {
      let decideCalls = 0
      const own = fakeBehaviour({
        tools: ['poke'],
        search,
        decide: () => (decideCalls++ === 0 ? branch('a', 'b') : undefined),
      })
      const poke = fakeTool()
      const model = scriptedModel([{ text: 'without it' }])
      const app = await openApp(t, { model, behaviours: [own], tools: [poke] })
      const result = await runTaskIn(app, 'choose', OWN)
      assert.deepEqual(
        { answer: result.answer, receivedArgs: poke.receivedArgs },
        { answer: 'without it', receivedArgs: [] },
      )
      assert.match(lastMessageIn(model, 0), reason)
    })

  test('Q16, case 9: the search of one run does not affect the next run', async (t) => {
    const own = fakeBehaviour({ search: longest, decide: () => branch('kiwi', 'melon') })
    const app = await openApp(t, { behaviours: [own] })
    const sessions = [await runTaskIn(app, 'one', OWN), await runTaskIn(app, 'two', OWN)]
    for (const { session_id } of sessions)
      assert.partialDeepStrictEqual(await recordsOf(app, session_id, 'branched'), [{ scores: [4, 5], chosen: 1 }])
  })
})
