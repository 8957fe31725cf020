import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { App } from '../src/app.ts'
import { TirelessError } from '../src/domain/error.ts'
import type { JournalRecord } from '../src/domain/journal-record.ts'
import type { ModelRequest } from '../src/ports/model.ts'
import { estimateTokens } from '../src/prompt-compiler/tokens.ts'
import { type ScriptedModel, scriptedModel } from '../src/testing/scripted-model.ts'
import { fakeBehaviour, fakeTool } from './support/fake-tools.ts'
import { freshFolder, journalOf, openApp, replayIn, runTaskIn } from './support/open-app.ts'

const STEPS = 40
/** Conservative: common tokenizers need 4.4 characters per token for English and JSON of this kind. */
const CHARACTERS_PER_TOKEN = 4
const BUDGET = 'budget: { per_dispatch_calls: 99 }'

/** A request as bytes in the order in which a provider's cache compares them. */
const bytesOf = ({ system, tools, messages }: ModelRequest): Buffer =>
  Buffer.from([system, JSON.stringify(tools), ...messages.map((message) => JSON.stringify(message))].join(''))

function commonBytes(a: Buffer, b: Buffer): number {
  let n = 0
  while (n < a.length && n < b.length && a[n] === b[n]) n += 1
  return n
}

type Requested = Extract<JournalRecord, { kind: 'model_requested' }>

const requestsIn = (journal: readonly JournalRecord[]): Requested[] =>
  journal.filter((it) => it.kind === 'model_requested')

const cutTurnsIn = (journal: readonly JournalRecord[]): number[] =>
  journal.flatMap((record) => (record.kind === 'cut' ? [record.turn] : []))

/** Calls a tool in every step, and sends a message in every tenth. */
async function runToEnd(app: App, model: ScriptedModel, input: object = {}): Promise<JournalRecord[]> {
  const result = await runTaskIn(app, 'count the sheep of every meadow', input)
  assert.equal(result.status, 'done', String(result.error))
  assert.ok(model.requests.length >= STEPS)
  return journalOf(app, result.session_id)
}

/** `tooLarge`: the provider rejects the request of this step once as too large. */
function countingModel(app: () => App, tooLarge = 0): { model: ScriptedModel; tool: ReturnType<typeof fakeTool> } {
  let steps = 0
  let refused = false
  const tool = fakeTool({
    run: async (_, { origin: { session_id } }) => {
      if (steps % 10 === 0)
        await app().run('send', { session: session_id, text: `message ${steps}: 顺便数一下山羊 🐐` })
      return `meadow ${steps}: ${'sheep '.repeat(40)}`
    },
  })
  const model = scriptedModel(() => {
    if (steps + 1 === tooLarge && !refused) {
      refused = true
      throw new TirelessError('model_oversize', 'too large')
    }
    steps += 1
    return steps <= STEPS ? { text: `step ${steps}`, calls: [{ tool: 'poke', args: { n: steps } }] } : { text: 'done' }
  })
  return { model, tool }
}

describe('requests keep a common prefix', () => {
  for (const [memory, tooLarge, compactions] of [
    ['whole', 20, 4],
    ['window', 0, 2],
    ['summary', 0, 2],
  ] as const)
    test(`case 103: ${memory}: over ${STEPS} steps each request extends the last, except after cuts`, async (t) => {
      let app: App | undefined
      const { model, tool } = countingModel(() => app as App, tooLarge)
      app = await openApp(t, { model, tools: [tool], yaml: BUDGET })
      const journal = await runToEnd(app, model, { memory })
      const cuts = cutTurnsIn(journal)
      assert.equal(cuts.length, compactions)
      const records = requestsIn(journal)
      assert.equal(records.length, model.requests.length)
      const sent = model.requests.map(bytesOf)
      for (const [i, request] of sent.entries()) {
        const before = sent[i - 1]
        const { composition, turn } = records[i] as Requested
        assert.equal(composition?.bytes, request.length)
        if (!before) continue
        const common = commonBytes(before, request)
        if (!cuts.includes(turn))
          assert.ok(common >= 0.9 * before.length, `step ${turn}: ${common} of ${before.length}`)
        const recorded = composition?.cached ?? 0
        // After a cut, bytes that two summaries share by chance are not counted.
        const minimum = cuts.includes(turn) ? 0 : common - 40
        assert.ok(recorded <= common && recorded >= minimum, `recorded ${recorded}, measured ${common}`)
      }
      const systems = new Set(model.requests.map(({ system, tools }) => JSON.stringify([system, tools])))
      assert.equal(systems.size, 1, 'system prompt and tools must be the same bytes in every step')
    })

  test('core decision: the record of a request stays small, however long the run is', async (t) => {
    let app: App | undefined
    const { model, tool } = countingModel(() => app as App)
    app = await openApp(t, { model, tools: [tool], yaml: BUDGET })
    const sizes = requestsIn(await runToEnd(app, model)).map((record) => JSON.stringify(record).length)
    assert.ok(Math.max(...sizes) <= 600, `${Math.max(...sizes)} bytes`)
    assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 30)
  })

  test('Q17: a replay has the same token breakdown', async (t) => {
    let app: App | undefined
    const { model, tool } = countingModel(() => app as App)
    app = await openApp(t, { model, tools: [tool], yaml: BUDGET })
    const journal = await runToEnd(app, model, { memory: 'window' })
    const [started] = journal
    assert.ok(started?.kind === 'run_started')
    const replayed = await replayIn(app, started.run_id)
    assert.equal(replayed.identical, true)
  })
})

describe('O14: parts of a prompt', () => {
  test('a bare agent has at most 1,500 tokens besides its task', async (t) => {
    const model = scriptedModel([{ text: 'done' }])
    await runTaskIn(await openApp(t, { model, yaml: 'sandbox: off' }), 'x')
    const [request] = model.requests
    assert.ok(request)
    assert.ok(request.tools.length >= 10, 'with every tool, bash too')
    const fixed = request.system + JSON.stringify(request.tools)
    assert.equal(/[^\x20-\x7e\n…]/.test(fixed), false, 'plain English and JSON')
    // cl100k_base and o200k_base need 4.4 characters per token here; our own estimate is too high for this limit.
    assert.ok(fixed.length / CHARACTERS_PER_TOKEN <= 1500, `${fixed.length} characters`)
    assert.deepEqual(request.messages, [{ role: 'user', text: 'x' }])
  })

  test('case 103: the solo behaviour has named sections, and none repeats another', async (t) => {
    const model = scriptedModel([{ text: 'done' }])
    const app = await openApp(t, { model })
    const { dispatch_id } = await runTaskIn(app, 'the task')
    const { prompts, steps } = await app.run('trace show', { run: dispatch_id, prompt: true })
    assert.equal(steps, null)
    const [prompt] = prompts ?? []
    const order = ['role', 'process_rules', 'policy', 'toolbox', 'tools', 'conversation', 'input']
    assert.deepEqual(Object.keys(prompt?.sections ?? {}), order)
    assert.deepEqual(
      { step_id: prompt?.step_id, cached_share: prompt?.cached_share, conversation: prompt?.sections.conversation },
      { step_id: 1, cached_share: 0, conversation: 0 },
    )
    assert.equal(
      prompt?.tokens,
      Object.values(prompt?.sections ?? {}).reduce((sum, tokens) => sum + tokens, 0),
    )
    const { system } = model.requests[0] ?? { system: '' }
    const lines = system.split('\n').filter((line) => line !== '')
    assert.equal(new Set(lines).size, lines.length)
  })

  test('case 105: a prompt prepared by the behaviour is counted', async (t) => {
    const ownPrompt = fakeBehaviour({ tools: [], prepare: () => 'my own words, which are told once' })
    const model = scriptedModel([{ text: 'done' }])
    const app = await openApp(t, { model, behaviours: [ownPrompt] })
    const { session_id } = await runTaskIn(app, 'the task', { behaviour: 'own' })
    const [record] = requestsIn(await journalOf(app, session_id))
    const [request] = model.requests
    assert.ok(request)
    assert.equal(record?.composition?.bytes, bytesOf(request).length)
    assert.ok((record?.composition?.sections.input ?? 0) >= estimateTokens('my own words, which are told once'))
  })

  test('the rules of a parser are a section of their own, before the unattended one', async (t) => {
    const model = scriptedModel([
      { text: '{"action": {"name": "list_files", "args": {"path": "."}}}' },
      { text: '{"final": "done"}' },
    ])
    const app = await openApp(t, { model })
    const { session_id } = await runTaskIn(app, 'the task', { parser: 'json', behaviour: 'unattended' })
    const [record] = requestsIn(await journalOf(app, session_id))
    const names = Object.keys(record?.composition?.sections ?? {})
    assert.deepEqual(names.slice(3, 6), ['toolbox', 'output_protocol', 'unattended'])
    assert.match(model.requests[0]?.system.split('\n\n').at(-1) ?? '', /No person is watching/)
  })

  test('core decision: facts stay visible after a cut, with the same bytes', async (t) => {
    const home = freshFolder(t)
    const first = await openApp(t, {
      home,
      model: scriptedModel([
        { calls: [{ tool: 'remember', args: { key: 'sheep', text: 'they are blue' } }] },
        { text: 'done' },
      ]),
    })
    await runTaskIn(first)
    await first.close()
    let app: App | undefined
    const { model, tool } = countingModel(() => app as App)
    app = await openApp(t, { home, model, tools: [tool], yaml: BUDGET })
    const journal = await runToEnd(app, model, { memory: 'window' })
    assert.ok(cutTurnsIn(journal).length > 0)
    const factMessages = model.requests.map(({ messages }) =>
      messages.filter(({ text }) => text.includes('they are blue')),
    )
    assert.ok(factMessages.every((found) => found.length === 1))
    assert.equal(new Set(factMessages.map(([message]) => JSON.stringify(message))).size, 1)
  })
})
