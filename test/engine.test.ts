import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { TirelessError } from '../src/domain/error.ts'
import { defineTool } from '../src/ports/define-tool.ts'
import type { AnyTool } from '../src/ports/tool.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { type ScriptedStep, scriptedModel } from '../src/testing/scripted-model.ts'
import { advanceUntilDone, dispatchOf, journalOf, kindsOf, openApp, runTaskIn, waitUntil } from './support/open-app.ts'

const write = (path: string, content = 'x'): ScriptedStep => ({
  calls: [{ tool: 'create_file', args: { path, content } }],
})
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const final = (text = 'all done'): ScriptedStep => ({ text })

/** A tool that runs the given function and counts its runs. */
function probeTool(run: () => unknown = () => {}, name = 'poke'): AnyTool & { runs: number } {
  const counted = { runs: 0 }
  const tool = defineTool({
    name,
    description: 'for tests',
    args: z.strictObject({}),
    effect: () => ({ recovery: 'once', reach: 'workspace' }),
    async run() {
      counted.runs += 1
      await run()
      return { status: 'ok', content: `poked, number ${counted.runs}` }
    },
  })
  return Object.assign(counted, tool)
}

describe('a run', () => {
  test('Q1: a tool call, then an answer: the journal holds both turns in order, and the file exists', async (t) => {
    const app = await openApp(t, { model: scriptedModel([write('a.txt', 'hello'), final()]) })
    const result = await runTaskIn(app)
    assert.deepEqual([result.status, result.answer, result.error], ['done', 'all done', null])
    assert.equal(readFileSync(join(result.workspace, 'a.txt'), 'utf8'), 'hello')
    assert.deepEqual(kindsOf(await journalOf(app, result.session_id)), [
      ...[
        'run_started',
        'input_bound',
        'model_requested',
        'model_answered',
        'call_intended',
        'call_settled',
        'step_committed',
      ],
      ...['input_bound', 'model_requested', 'model_answered', 'step_committed', 'run_ended'],
    ])
  })

  test('I3: a step with one tool call makes two commits, three if it acknowledges input; an answer one', async (t) => {
    const tool = probeTool()
    const commits: number[] = []
    const model = scriptedModel((_, turn) => {
      commits.push(app.context.store.commits())
      return turn < 4 ? { calls: [{ tool: 'poke' }] } : { text: 'done' }
    })
    const app = await openApp(t, { model, tools: [tool] })
    const result = await runTaskIn(app)
    commits.push(app.context.store.commits())
    const perStep = commits.slice(1).map((n, i) => n - (commits[i] ?? 0))
    assert.equal(result.status, 'done')
    assert.deepEqual(perStep, [3, 2, 2, 2, 1], 'between two requests: answer + intent, result + step + request')
  })

  test('case 17, case 107: the second model request contains the first exchange exactly once', async (t) => {
    const model = scriptedModel([write('a.txt'), write('b.txt'), final()])
    await runTaskIn(await openApp(t, { model }), 'do it')
    assert.deepEqual(
      model.requests[2]?.messages.map(({ role }) => role),
      ['user', 'assistant', 'tool', 'assistant', 'tool'],
    )
    assert.deepEqual(model.requests[0]?.messages, [{ role: 'user', text: 'do it' }])
  })

  test('requests are recorded by reference: their records do not grow with the conversation', async (t) => {
    const model = scriptedModel((_, turn) =>
      turn < 30 ? { text: 'x'.repeat(500), calls: [{ tool: 'poke' }] } : { text: 'done' },
    )
    const app = await openApp(t, { model, tools: [probeTool()] })
    const { session_id } = await runTaskIn(app)
    const requests = (await journalOf(app, session_id)).filter(({ kind }) => kind === 'model_requested')
    const sizes = requests.map((request) => JSON.stringify(request).length)
    assert.equal(requests.length, 31)
    assert.ok(Math.max(...sizes) - Math.min(...sizes) < 20, `sizes ${Math.min(...sizes)} to ${Math.max(...sizes)}`)
    assert.equal(new Set(requests.map((request) => request.kind === 'model_requested' && request.digest)).size, 31)
  })

  test('case 43: with a limit of n calls exactly n steps run, and the run fails with class budget', async (t) => {
    const tool = probeTool()
    const model = scriptedModel(() => ({ calls: [{ tool: 'poke' }] }))
    const result = await runTaskIn(
      await openApp(t, { model, tools: [tool], yaml: 'budget: { per_dispatch_calls: 4 }' }),
    )
    assert.deepEqual(
      [result.status, result.failure_class, tool.runs, model.requests.length],
      ['failed', 'budget', 4, 4],
    )
    assert.match(result.error ?? '', /per_dispatch_calls/)
  })

  test('case 42: a final answer in the step that reaches the limit ends the run normally', async (t) => {
    const result = await runTaskIn(
      await openApp(t, { model: scriptedModel([final()]), yaml: 'budget: { per_dispatch_calls: 1 }' }),
    )
    assert.deepEqual([result.status, result.answer], ['done', 'all done'])
  })

  test('an exception in a tool becomes a failed result for the model, not the end of the run', async (t) => {
    const broken = probeTool(() => {
      throw new TypeError('cannot read the moon')
    })
    const model = scriptedModel([{ calls: [{ tool: 'poke' }] }, final()])
    const result = await runTaskIn(await openApp(t, { model, tools: [broken] }))
    assert.equal(result.status, 'done')
    const toolMessage = model.requests[1]?.messages.at(-1)
    assert.ok(toolMessage?.role === 'tool' && !toolMessage.ok && toolMessage.text.includes('cannot read the moon'))
  })

  test('`finish` ends the run with its answer', async (t) => {
    const result = await runTaskIn(
      await openApp(t, { model: scriptedModel([{ calls: [{ tool: 'finish', args: { answer: '42' } }] }]) }),
    )
    assert.deepEqual([result.status, result.answer], ['done', '42'])
  })
})

describe('unusable answers', () => {
  const malformed: [string, ScriptedStep][] = [
    ['unknown tool', { calls: [{ tool: 'poke' }, { tool: 'no_such_tool' }] }],
    ['arguments that are not JSON', { calls: [{ tool: 'poke' }, { tool: 'poke', args: '{"a": ' }] }],
    ['arguments that do not fit', { calls: [{ tool: 'poke', args: { extra: 1 } }, { tool: 'poke' }] }],
    [
      'duplicate call ids',
      {
        calls: [
          { tool: 'poke', id: 'same' },
          { tool: 'poke', id: 'same' },
        ],
      },
    ],
    ['an answer cut at the output limit', { calls: [{ tool: 'poke' }, { tool: 'poke' }], finish: 'length' }],
    ['`finish` beside other calls', { calls: [{ tool: 'poke' }, { tool: 'finish', args: { answer: 'x' } }] }],
    [
      '`wait` with an unreadable time',
      { calls: [{ tool: 'wait', args: { for: 'message', until: 'soonish' } }, { tool: 'poke' }] },
    ],
  ]
  for (const [name, step] of malformed)
    test(`case 27: ${name}: no call of the batch runs, each gets an error result, and the run continues`, async (t) => {
      const tool = probeTool()
      const model = scriptedModel([step, { calls: [{ tool: 'poke' }] }, final()])
      const result = await runTaskIn(await openApp(t, { model, tools: [tool] }))
      assert.deepEqual([result.status, tool.runs], ['done', 1])
      const results = model.requests[1]?.messages.filter((message) => message.role === 'tool') ?? []
      assert.equal(results.length, step.calls?.length)
      assert.ok(results.every((message) => message.role === 'tool' && !message.ok))
      assert.equal(
        new Set(results.map((message) => message.role === 'tool' && message.call_id)).size,
        results.length,
        'ids are distinct in the history',
      )
    })

  test('case 131: text cut off at the output limit is not the final answer', async (t) => {
    const model = scriptedModel([{ text: 'The result is 4', finish: 'length' }, final('The result is 42')])
    const result = await runTaskIn(await openApp(t, { model }))
    assert.equal(result.answer, 'The result is 42')
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /cut off at the output limit/)
  })

  test('Q4: three unusable answers in a row fail a run (invalid_result); a usable one resets the count', async (t) => {
    const bad: ScriptedStep = { calls: [{ tool: 'nope' }] }
    const exhausted = await runTaskIn(await openApp(t, { model: scriptedModel([bad, bad, bad, final()]) }))
    assert.deepEqual([exhausted.status, exhausted.failure_class], ['failed', 'invalid_result'])
    const recovered = await runTaskIn(
      await openApp(t, { model: scriptedModel([bad, bad, write('a'), bad, bad, final()]) }),
    )
    assert.equal(recovered.status, 'done')
  })
})

describe('provider errors', () => {
  const providerError = (
    code: 'model_unavailable' | 'model_limited' | 'model_empty' | 'model_auth' | 'model_refused',
    retryAfterMs?: number,
  ) => new TirelessError(code, 'the provider is in trouble', { retryAfterMs })

  test('a transient error parks the run durably, and the same turn is retried with the same input', async (t) => {
    const clock = new FakeClock()
    const model = scriptedModel([
      { ...write('a.txt'), faults: [providerError('model_unavailable'), providerError('model_limited')] },
      final(),
    ])
    const app = await openApp(t, { model, clock })
    const result = await advanceUntilDone(clock, runTaskIn(app))
    assert.deepEqual([result.status, model.requests.length], ['done', 4])
    const journal = await journalOf(app, result.session_id)
    assert.deepEqual(
      kindsOf(journal).filter((kind) => kind === 'failed' || kind === 'input_bound'),
      ['input_bound', 'failed', 'failed', 'input_bound'],
    )
    assert.deepEqual(model.requests[2]?.messages, model.requests[0]?.messages)
  })

  for (const [code, requests] of [
    ['model_unavailable', 3],
    ['model_empty', 2],
    ['model_auth', 1],
    ['model_refused', 1],
  ] as const)
    test(`case 26: ${code}: ${requests} request(s), then failed with class provider`, async (t) => {
      const clock = new FakeClock()
      const model = scriptedModel([{ ...final(), faults: Array.from({ length: 9 }, () => providerError(code)) }])
      const app = await openApp(t, { model, clock })
      const result = await advanceUntilDone(clock, runTaskIn(app))
      assert.deepEqual([result.status, result.failure_class, model.requests.length], ['failed', 'provider', requests])
      assert.match(result.error ?? '', new RegExp(code))
    })

  test('a Retry-After beyond a minute is obeyed and leaves the dispatch parked', async (t) => {
    const clock = new FakeClock()
    const model = scriptedModel([{ ...final(), faults: [providerError('model_limited', 600_000)] }])
    const app = await openApp(t, { model, clock })
    const asked = clock.now()
    const result = await advanceUntilDone(clock, runTaskIn(app))
    assert.equal(result.status, 'waiting')
    assert.ok(result.wait?.kind === 'retry' && result.wait.until >= asked + 600_000)
    await clock.advance(600_000)
    await app.run('start', { until_idle: true })
    assert.equal((await dispatchOf(app, result.dispatch_id)).status, 'done')
  })

  test('case 130: after a permanent provider error the message stays unread; the next run gets it once', async (t) => {
    const clock = new FakeClock()
    const model = scriptedModel((request) => {
      if (request.messages.length === 1 && !JSON.stringify(request.messages).includes('third'))
        throw providerError('model_refused')
      return { text: 'heard' }
    })
    const app = await openApp(t, { model, clock })
    const { status, session_id } = await runTaskIn(app, 'first')
    assert.equal(status, 'failed')
    const unread = async () => (await app.run('sessions show', { id: session_id })).unread
    await app.run('send', { session: session_id, text: 'second' })
    await app.run('start', { until_idle: true })
    assert.deepEqual(
      (await unread()).map((observation) => observation.type === 'user_message' && observation.text),
      ['second'],
    )
    await app.run('send', { session: session_id, text: 'third' })
    await app.run('start', { until_idle: true })
    assert.deepEqual(model.requests.at(-1)?.messages, [{ role: 'user', text: 'second\n\nthird' }])
    assert.deepEqual(await unread(), [])
  })
})

describe('waiting', () => {
  const waiting = (args: { for: string; until?: string }): ScriptedStep => ({ calls: [{ tool: 'wait', args }] })

  test('Q4: wait parks the run without slot, lease or model call; a message wakes it', async (t) => {
    const model = scriptedModel([waiting({ for: 'message' }), final('thanks')])
    const app = await openApp(t, { model })
    const parked = await runTaskIn(app)
    assert.deepEqual([parked.status, parked.wait?.kind], ['waiting', 'observation'])
    await app.run('start', { until_idle: true })
    assert.equal(model.requests.length, 1, 'draining does not wake it')
    const dispatch = await dispatchOf(app, parked.dispatch_id)
    assert.equal(dispatch.lease_owner, null)
    await app.run('send', { session: parked.session_id, text: 'here you are' })
    await app.run('start', { until_idle: true })
    assert.equal((await dispatchOf(app, parked.dispatch_id)).result, 'thanks')
    assert.deepEqual(
      model.requests[1]?.messages.map((message) => (message.role === 'tool' ? 'tool' : message.text)).slice(-1),
      ['here you are'],
    )
  })

  test('case 67: the deadline wakes the run with an observation; the longest wait is a day', async (t) => {
    for (const [args, after] of [
      [{ for: 'message', until: '10m' }, 600_000],
      [{ for: 'the moon' }, 86_400_000],
    ] as const) {
      const clock = new FakeClock()
      const model = scriptedModel([waiting(args), final('waited')])
      const app = await openApp(t, { model, clock })
      const parked = await runTaskIn(app)
      assert.equal(parked.wait?.until, clock.now() + after)
      await clock.advance(after - 1)
      await app.run('start', { until_idle: true })
      assert.equal(model.requests.length, 1)
      await clock.advance(1)
      await app.run('start', { until_idle: true })
      assert.equal((await dispatchOf(app, parked.dispatch_id)).result, 'waited')
      assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /event deadline/)
    }
  })

  test('enqueue --at: the dispatch does not start before its time', async (t) => {
    const clock = new FakeClock()
    const model = scriptedModel([final()])
    const app = await openApp(t, { model, clock })
    const { dispatch_id } = await app.run('enqueue', { prompt: 'later', at: '1h' })
    await app.run('start', { until_idle: true })
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'waiting')
    await clock.advance(3_600_000)
    await app.run('start', { until_idle: true })
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'done')
  })
})

describe('messages during a run (O12, case 68)', () => {
  const send = (session: string, text = 'psst') => sendThroughApp(session, text)
  let sendThroughApp: (session: string, text: string) => Promise<unknown>

  test('during the model call: delivered with the next step', async (t) => {
    const model = scriptedModel((_, turn) => (turn === 0 ? { calls: [{ tool: 'poke' }] } : { text: 'done' }))
    const slow = {
      ...model,
      call: async (...given: Parameters<typeof model.call>) => {
        if (model.requests.length === 0) await send(await sessionId())
        return model.call(...given)
      },
    }
    const app = await openApp(t, { model: slow, tools: [probeTool()] })
    sendThroughApp = (session, text) => app.run('send', { session, text })
    const sessionId = async () => (await app.run('sessions list', {})).items[0]?.session_id ?? ''
    assert.equal((await runTaskIn(app)).status, 'done')
    assert.equal(JSON.stringify(model.requests[0]?.messages).includes('psst'), false)
    assert.equal(JSON.stringify(model.requests[1]?.messages.at(-1)).includes('psst'), true)
  })

  test('during a tool call: delivered with the next step', async (t) => {
    const model = scriptedModel([{ calls: [{ tool: 'poke' }] }, final()])
    const tool = probeTool(async () => send(await sessionId()))
    const app = await openApp(t, { model, tools: [tool] })
    sendThroughApp = (session, text) => app.run('send', { session, text })
    const sessionId = async () => (await app.run('sessions list', {})).items[0]?.session_id ?? ''
    assert.equal((await runTaskIn(app)).status, 'done')
    assert.equal(JSON.stringify(model.requests[1]?.messages.at(-1)).includes('psst'), true)
  })

  test('during the model call that decides to wait: the run continues at once', async (t) => {
    const model = scriptedModel((_, turn) =>
      turn === 0 ? { calls: [{ tool: 'wait', args: { for: 'message' } }] } : { text: 'got it' },
    )
    const slow = {
      ...model,
      call: async (...given: Parameters<typeof model.call>) => {
        const answer = await model.call(...given)
        if (model.requests.length === 1) await app.run('send', { session: await sessionId(), text: 'psst' })
        return answer
      },
    }
    const app = await openApp(t, { model: slow })
    const sessionId = async () => (await app.run('sessions list', {})).items[0]?.session_id ?? ''
    const result = await runTaskIn(app)
    assert.deepEqual([result.status, result.answer], ['done', 'got it'])
  })

  test('during the model call that gives the final answer: the session gets a new dispatch', async (t) => {
    const model = scriptedModel((_, turn) => ({ text: turn === 0 ? 'first' : 'second' }))
    const slow = {
      ...model,
      call: async (...given: Parameters<typeof model.call>) => {
        const answer = await model.call(...given)
        if (model.requests.length === 1) await app.run('send', { session: await sessionId(), text: 'psst' })
        return answer
      },
    }
    const app = await openApp(t, { model: slow })
    const sessionId = async () => (await app.run('sessions list', {})).items[0]?.session_id ?? ''
    assert.equal((await runTaskIn(app)).answer, 'first')
    await app.run('start', { until_idle: true })
    const { items } = await app.run('queue list', {})
    assert.deepEqual(
      items.map(({ status, result }) => [status, result]),
      [
        ['done', 'second'],
        ['done', 'first'],
      ],
    )
  })

  test('case 72: a message with the same key is delivered once', async (t) => {
    const model = scriptedModel([{ calls: [{ tool: 'wait', args: { for: 'message' } }] }, final()])
    const app = await openApp(t, { model })
    const { session_id } = await runTaskIn(app)
    const first = await app.run('send', { session: session_id, text: 'hello', key: 'k' })
    const second = await app.run('send', { session: session_id, text: 'hello again', key: 'k' })
    assert.deepEqual(
      [first, second].map((sent) => (sent as { duplicate: boolean }).duplicate),
      [false, true],
    )
    await app.run('start', { until_idle: true })
    assert.equal(JSON.stringify(model.requests[1]?.messages).match(/hello/g)?.length, 1)
  })

  test('case 72: the key of a message or task is remembered as long as its session', async (t) => {
    const clock = new FakeClock()
    const model = scriptedModel(() => final())
    const app = await openApp(t, { model, clock })
    const enqueue = () => app.run('enqueue', { prompt: 'the task', key: 'k' }) as Promise<{ session_id: string }>
    const { session_id } = await enqueue()
    const send = () => app.run('send', { session: session_id, text: 'hello', key: 'k' })
    await send()
    await app.run('start', { until_idle: true })
    const asked = model.requests.length
    for (const ms of [MINUTE, DAY, 80 * DAY]) {
      await clock.advance(ms)
      for (const again of [await enqueue(), await send()])
        assert.equal((again as unknown as { duplicate: boolean }).duplicate, true, `after ${ms} ms`)
    }
    await app.run('start', { until_idle: true })
    assert.equal(model.requests.length, asked)
  })
})

describe('critics', () => {
  test('Q12: a critic may reject a final answer with an instruction, or stop the run', async (t) => {
    let judged = 0
    const askingForEvidence = {
      name: 'strict',
      judge: () =>
        judged++ === 0
          ? ({ kind: 'retry', instruction: 'show your evidence' } as const)
          : ({ kind: 'continue' } as const),
    }
    const model = scriptedModel([final('trust me'), final('here is the evidence')])
    const result = await runTaskIn(await openApp(t, { model, critics: [askingForEvidence] }))
    assert.equal(result.answer, 'here is the evidence')
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /show your evidence/)
    const refusing = { name: 'no', judge: () => ({ kind: 'stop', reason: 'enough' }) as const }
    const stopped = await runTaskIn(await openApp(t, { model: scriptedModel([final()]), critics: [refusing] }))
    assert.deepEqual([stopped.status, stopped.error], ['failed', 'enough'])
  })
})

describe('concurrency', () => {
  test('64 sessions share commits', async (t) => {
    const model = scriptedModel((_, turn) =>
      turn < 5 ? { calls: [{ tool: 'create_file', args: { path: `${turn}.txt`, content: 'x' } }] } : { text: 'done' },
    )
    const app = await openApp(t, { model, yaml: 'kernel: { max_concurrent: 64 }' })
    for (let i = 0; i < 64; i++) await app.run('enqueue', { prompt: `task ${i}` })
    const before = app.context.store.commits()
    const { queue } = await app.run('start', { until_idle: true })
    const batches = 64 * (5 * 3 + 2)
    const commits = app.context.store.commits() - before
    assert.equal(queue.done, 64)
    assert.ok(commits < batches / 4, `${batches} batches in ${commits} commits`)
  })

  test('case 96: a session that lost its lease writes nothing more', async (t) => {
    const gate = Promise.withResolvers<void>()
    let stolen = ''
    const model = scriptedModel((_, turn) => (turn === 0 ? { calls: [{ tool: 'poke' }] } : { text: 'done' }))
    const tool = probeTool(async () => {
      if (tool.runs === 1) {
        const { items } = await app.run('queue list', { status: 'running' })
        stolen = items.at(-1)?.dispatch_id ?? ''
        // Another owner's takeover returns every running dispatch of the epoch; this worker must not write any more.
        const { lease_owner } = await dispatchOf(app, stolen)
        await app.context.store.commit([
          {
            ops: [
              { op: 'leave', epoch: lease_owner ?? 0, now: 0 },
              { op: 'join', name: 'other', now: 0, lease_until: 9e12, alone: false },
            ],
          },
        ])
        gate.resolve()
      }
      await gate.promise
    })
    const app = await openApp(t, { model, tools: [tool], yaml: 'kernel: { max_concurrent: 1 }' })
    await app.run('enqueue', { prompt: 'one' })
    await app.run('start', { until_idle: true }).catch(() => {})
    const dispatch = await dispatchOf(app, stolen)
    assert.equal(dispatch.status, 'pending', 'the fenced run wrote nothing after the takeover')
    const journal = await journalOf(app, dispatch.session_id)
    assert.equal(kindsOf(journal).at(-1), 'call_intended')
  })

  test('case 75: two concurrent drains of one queue never start the same dispatch twice', async (t) => {
    const model = scriptedModel((_, turn) => (turn === 0 ? { calls: [{ tool: 'poke' }] } : { text: 'done' }))
    const tool = probeTool(() => new Promise((resolve) => setTimeout(resolve, 1)))
    const app = await openApp(t, { model, tools: [tool], yaml: 'kernel: { max_concurrent: 4 }' })
    for (let i = 0; i < 20; i++) await app.run('enqueue', { prompt: `task ${i}` })
    await Promise.all([app.run('start', { until_idle: true }), app.run('start', { until_idle: true })])
    assert.equal(tool.runs, 20)
  })
})

describe('stopping', () => {
  test('SIGTERM: the current step is finished, then the dispatch is returned as pending', async (t) => {
    const drain = new AbortController()
    const signals = { drain: drain.signal, abort: new AbortController().signal }
    const model = scriptedModel((_, turn) => (turn < 3 ? { calls: [{ tool: 'poke' }] } : { text: 'done' }))
    const tool = probeTool(() => tool.runs === 2 && drain.abort())
    const app = await openApp(t, { model, tools: [tool], signals })
    const { dispatch_id } = await app.run('enqueue', { prompt: 'x' })
    await app.run('start', {})
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'pending')
    assert.equal(tool.runs, 2)
  })

  test('an abort interrupts a hanging model call and returns the dispatch as pending', async (t) => {
    const drain = new AbortController()
    const abort = new AbortController()
    const hanging = {
      id: 'scripted/hang',
      call: (_: unknown, { signal }: { signal: AbortSignal }) =>
        new Promise<never>((_, reject) =>
          signal.addEventListener('abort', () => reject(new TirelessError('aborted', 'aborted'))),
        ),
    }
    const app = await openApp(t, { model: hanging, signals: { drain: drain.signal, abort: abort.signal } })
    const { dispatch_id, session_id } = await app.run('enqueue', { prompt: 'x' })
    const started = app.run('start', {})
    await waitUntil(async () => kindsOf(await journalOf(app, session_id)).includes('model_requested'))
    drain.abort()
    abort.abort()
    await started
    assert.equal((await dispatchOf(app, dispatch_id)).status, 'pending')
  })
})
