import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { z } from 'zod'
import type { App } from '../src/app.ts'
import type { CommandInput, CommandOutput } from '../src/commands/lib/registry.ts'
import { replay } from '../src/commands/replay.ts'
import { TirelessError } from '../src/domain/error.ts'
import type { JournalRecord } from '../src/domain/journal-record.ts'
import { workspaceKey } from '../src/domain/label.ts'
import { defineBehaviour } from '../src/ports/behaviour.ts'
import { defineTool } from '../src/ports/define-tool.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { advanceUntilDone, freshFolder, openApp, replayIn, runTaskIn } from './support/open-app.ts'

type ReplayInput = CommandInput<'replay'>
type ReplayOutput = CommandOutput<'replay'>

async function forkIn(app: App, input: ReplayInput): Promise<Extract<ReplayOutput, { forked_from: object }>> {
  const forked = await app.run('replay', input)
  return 'forked_from' in forked ? forked : assert.fail('the run was not forked')
}

/** Counts its runs: a replay must not run it. */
function countingTool(): ReturnType<typeof defineTool> & { runs: number } {
  const counted = { runs: 0 }
  const tool = defineTool({
    name: 'count',
    description: 'counts',
    args: z.strictObject({ n: z.number() }),
    effect: () => ({ recovery: 'once', reach: 'third_party' }),
    gives: () => ({ trust: 'trusted', private: false }),
    async run({ n }) {
      counted.runs += 1
      if (n === 13) throw new TirelessError('tool_failed', 'unlucky')
      return { status: 'ok', content: `${n}, the ${counted.runs}. time` }
    },
  })
  return Object.assign(counted, tool)
}

const calls = (...numbers: number[]) => ({ calls: numbers.map((n) => ({ tool: 'count', args: { n } })) })

describe('Q17: replay', () => {
  test('makes the same events without a call to model or tools', async (t) => {
    const tool = countingTool()
    const model = scriptedModel([calls(1), calls(2, 13), calls(4, 4), { text: 'done' }])
    const app = await openApp(t, { model, tools: [tool] })
    const { dispatch_id } = await runTaskIn(app)
    const used = [tool.runs, model.requests.length]
    const first = await replayIn(app, dispatch_id)
    assert.deepEqual([first.identical, first.first_divergence], [true, null])
    assert.ok(first.events > 30, `${first.events} events`)
    assert.deepEqual([tool.runs, model.requests.length], used)
    assert.deepEqual(await replayIn(app, dispatch_id), first)
  })

  test('repeats provider errors, unusable answers, broken critics, retries and throwing hooks', async (t) => {
    const clock = new FakeClock()
    const busy = new TirelessError('model_unavailable', 'busy')
    let judged = 0
    const model = scriptedModel([
      { ...calls(1), faults: [busy, busy] },
      { calls: [{ tool: 'nothing' }] },
      calls(2),
      { text: 'done' },
      { text: 'really done' },
    ])
    const app = await openApp(t, {
      model,
      clock,
      tools: [countingTool()],
      critics: [
        {
          name: 'breaks',
          judge() {
            throw new Error('a critic broke')
          },
        },
        {
          name: 'once more',
          judge: (_, { decision }) =>
            decision.kind === 'final' && judged++ === 0
              ? { kind: 'retry', instruction: 'say it again' }
              : { kind: 'continue' },
        },
      ],
      hooks: [
        {
          name: 'throws',
          on_after_act() {
            throw new Error('a hook broke')
          },
        },
      ],
    })
    const result = await advanceUntilDone(clock, runTaskIn(app))
    assert.equal(result.answer, 'really done')
    const again = await replayIn(app, result.dispatch_id)
    assert.deepEqual([again.identical, again.first_divergence], [true, null])
  })

  for (const parser of ['json', 'react', 'xml'])
    for (const memory of ['window', 'summary', 'recall'])
      test(`works with parser ${parser} and memory ${memory}`, async (t) => {
        const finalAnswers = {
          json: '{"answer": "done"}',
          react: 'Final Answer: done',
          xml: '<final_answer>done</final_answer>',
        }
        const call = (n: number): string =>
          ({
            json: `{"action": {"name": "count", "args": {"n": ${n}}}}`,
            react: `Action: count(n=${n})`,
            xml: `<action name="count">{"n": ${n}}</action>`,
          })[parser] ?? ''
        let asked = 0
        const model = scriptedModel(() => {
          asked += 1
          return { text: asked <= 30 ? call(asked) : (finalAnswers[parser as keyof typeof finalAnswers] ?? '') }
        })
        const app = await openApp(t, { model, tools: [countingTool()] })
        const result = await runTaskIn(app, 'count to thirty', { parser, memory })
        assert.deepEqual([result.status, result.steps], ['done', 31])
        const again = await replayIn(app, result.dispatch_id)
        assert.deepEqual([again.identical, again.first_divergence], [true, null])
      })

  test('reports the first event that differs if the program would now act differently', async (t) => {
    const home = freshFolder(t)
    const behaviour = (stops: number) =>
      defineBehaviour({
        name: 'counter',
        tools: ['count'],
        initState: () => ({ n: 0 }),
        buildSystemPrompt: () => '',
        decide: (state) => {
          const { n } = state as { readonly n: number }
          return n < stops
            ? { kind: 'act', calls: [{ tool: 'count', args: { n } }] }
            : { kind: 'final', answer: 'done' }
        },
        reduce: (state) => ({ n: (state as { readonly n: number }).n + 1 }),
      })
    const before = await openApp(t, { home, tools: [countingTool()], behaviours: [behaviour(3)] })
    const { dispatch_id } = await runTaskIn(before, 'count', { behaviour: 'counter' })
    assert.equal((await replayIn(before, dispatch_id)).identical, true)
    await before.close()
    const after = await openApp(t, { home, tools: [countingTool()], behaviours: [behaviour(2)] })
    const { identical, first_divergence } = await replayIn(after, dispatch_id)
    assert.equal(identical, false)
    const { recorded, replayed } = first_divergence ?? {}
    assert.equal((recorded as { phase: string }).phase, 'DECIDE')
    assert.deepEqual((recorded as { payload: { kind: string } }).payload.kind, 'act')
    assert.deepEqual((replayed as { payload: { kind: string } }).payload.kind, 'final')
  })

  test('with another prompt compiler the request bytes are not compared, but everything else is', async (t) => {
    const app = await openApp(t, { model: scriptedModel([{ text: 'done' }]) })
    const { dispatch_id: run } = await runTaskIn(app)
    const { context } = app
    const replayOf = (change: (record: JournalRecord) => JournalRecord) => {
      const journal = async (id: string): Promise<readonly JournalRecord[]> =>
        (await context.store.journal(id)).map(change)
      const altered = { ...context, store: { ...context.store, journal } }
      return replay.run(altered, { run }, () => {}) as Promise<Extract<ReplayOutput, { note: string | null }>>
    }
    const withOldCompiler = (record: JournalRecord): JournalRecord =>
      record.kind === 'model_requested' ? { ...record, compiler: 4, digest: 'of then' } : record
    const { identical, note } = await replayOf(withOldCompiler)
    assert.equal(identical, true)
    assert.match(note ?? '', /Recorded with prompt compiler 4; this program has 7/)
    const otherAnswer = await replayOf((record) =>
      record.kind === 'run_ended' ? { ...record, answer: 'otherwise' } : withOldCompiler(record),
    )
    assert.equal(otherAnswer.identical, false)
    const sameCompiler = await replayOf((record) =>
      record.kind === 'model_requested' ? { ...record, digest: 'of then' } : record,
    )
    assert.deepEqual([sameCompiler.identical, sameCompiler.note], [false, null])
  })

  test('refuses an unknown run, and changes of setup without --from', async (t) => {
    const app = await openApp(t, { model: scriptedModel([{ text: 'done' }]) })
    const { dispatch_id } = await runTaskIn(app)
    await assert.rejects(replayIn(app, 'nobody'), /no such run/)
    await assert.rejects(app.run('replay', { run: dispatch_id, model: 'other' }), /--from/)
  })
})

describe('Q15: fork', () => {
  test('continues from a step with another parser and memory; compare finds the first divergence', async (t) => {
    const tool = countingTool()
    const model = scriptedModel((request) => {
      const isTextProtocol = request.tools.length === 0
      const turns = request.messages.filter(({ role }) => role === 'assistant').length
      if (turns < 3) return calls(turns)
      return { text: isTextProtocol ? '{"answer": "as text"}' : 'natively' }
    })
    const app = await openApp(t, { model, tools: [tool] })
    const first = await runTaskIn(app)
    assert.deepEqual([first.answer, first.steps, tool.runs], ['natively', 4, 3])
    writeFileSync(join(first.workspace, 'kept.txt'), 'kept')
    const forked = await forkIn(app, { run: first.dispatch_id, from: 3, parser: 'json', memory: 'window' })
    assert.deepEqual([forked.answer, forked.steps, tool.runs], ['as text', 4, 3])
    assert.ok(existsSync(join(forked.workspace, 'kept.txt')))
    assert.notEqual(forked.workspace, first.workspace)
    const compared = await app.run('compare', { a: first.dispatch_id, b: forked.run_id })
    assert.deepEqual([compared.first_divergence?.step, compared.first_divergence?.phase], [4, 'DECIDE'])
    assert.deepEqual([compared.a.setup?.parser, compared.b.setup?.parser], ['native', 'json'])
    const again = await replayIn(app, forked.run_id)
    assert.deepEqual([again.identical, again.first_divergence], [true, null])
  })

  test('refuses a step that the run does not have, and names the range', async (t) => {
    const app = await openApp(t, { model: scriptedModel([{ text: 'done' }]) })
    const { dispatch_id } = await runTaskIn(app)
    await assert.rejects(app.run('replay', { run: dispatch_id, from: 7 }), /a step from 1 to 1/)
  })

  /** Writes the step number to a file, adds a script, removes the last one, and replaces a link. */
  const writingTool = (): ReturnType<typeof defineTool> =>
    defineTool({
      name: 'count',
      description: 'writes',
      args: z.strictObject({ n: z.number() }),
      effect: () => ({ recovery: 'once', reach: 'workspace' }),
      async run({ n }, { env }) {
        writeFileSync(join(env.root, 'step.txt'), `step ${n}`)
        writeFileSync(join(env.root, `made-${n}.sh`), '#!/bin/sh\n')
        chmodSync(join(env.root, `made-${n}.sh`), 0o755)
        rmSync(join(env.root, `made-${n - 1}.sh`), { force: true })
        rmSync(join(env.root, 'link'), { force: true })
        symlinkSync(`/nowhere/${n}`, join(env.root, 'link'))
        return { status: 'ok', content: `wrote ${n}` }
      },
    })

  /** Names, contents, modes and link targets. */
  const filesIn = (folder: string): Record<string, string> =>
    Object.fromEntries(
      readdirSync(folder).map((name) => {
        const path = join(folder, name)
        const stats = lstatSync(path)
        if (stats.isSymbolicLink()) return [name, `-> ${readlinkSync(path)}`]
        return [name, `${(stats.mode & 0o777).toString(8)} ${readFileSync(path, 'utf8')}`]
      }),
    )

  const filesAfter = (n: number): Record<string, string> => ({
    'step.txt': `644 step ${n}`,
    [`made-${n}.sh`]: '755 #!/bin/sh\n',
    link: `-> /nowhere/${n}`,
  })

  const runThreeWrites = async (
    t: TestContext,
    tool: ReturnType<typeof defineTool>,
  ): Promise<[App, string, string]> => {
    let asked = 0
    // The run writes three times; its forks answer at once.
    const model = scriptedModel(() => {
      asked += 1
      return asked <= 3 ? calls(asked) : { text: 'done' }
    })
    const app = await openApp(t, { model, tools: [tool] })
    const { dispatch_id, workspace } = await runTaskIn(app)
    assert.deepEqual(filesIn(workspace), filesAfter(3))
    return [app, dispatch_id, workspace]
  }

  for (const step of [1, 2, 3])
    test(`starts from step ${step} with the files as that step left them, despite later writes`, async (t) => {
      const [app, run, workspace] = await runThreeWrites(t, writingTool())
      writeFileSync(join(workspace, 'step.txt'), 'by the owner, later')
      const forked = await forkIn(app, { run, from: step })
      assert.equal(forked.files, 'kept')
      assert.deepEqual(filesIn(forked.workspace), filesAfter(step))
      assert.equal(readFileSync(join(workspace, 'step.txt'), 'utf8'), 'by the owner, later')
    })

  test('can start from a step copied by an earlier fork', async (t) => {
    const [app, run] = await runThreeWrites(t, writingTool())
    const { run_id } = await forkIn(app, { run, from: 3 })
    const again = await forkIn(app, { run: run_id, from: 2 })
    assert.deepEqual([again.files, filesIn(again.workspace)], ['kept', filesAfter(2)])
  })

  test('reports the current files if the run wrote nothing', async (t) => {
    const [app, run] = await runWithoutWrites(t)
    assert.equal((await forkIn(app, { run, from: 1 })).files, 'now')
  })

  test('I12: keeps the untrusted label of the workspace', async (t) => {
    const untrustedWriter = { ...writingTool(), gives: () => ({ trust: 'untrusted', private: true }) as const }
    const [app, run] = await runThreeWrites(t, untrustedWriter)
    const { workspace } = await forkIn(app, { run, from: 2 })
    assert.deepEqual(await app.context.store.label(workspaceKey(workspace)), { trust: 'untrusted', private: true })
  })
})

async function runWithoutWrites(t: TestContext): Promise<[App, string]> {
  const app = await openApp(t, {
    model: scriptedModel([calls(1), { text: 'done' }, { text: 'done' }]),
    tools: [countingTool()],
  })
  return [app, (await runTaskIn(app)).dispatch_id]
}
