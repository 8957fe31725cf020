/** Forks: a recorded run continues from one of its steps with another setup. */

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
import type { CommandInput } from '../src/commands/lib/registry.ts'
import { workspaceKey } from '../src/domain/label.ts'
import { defineTool } from '../src/ports/define-tool.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { advanceUntilDone, freshFolder, openApp, passTime, replayIn, runTaskIn } from './support/open-app.ts'
import { calls, countingTool, type ReplayOutput } from './support/replays.ts'

type ReplayInput = CommandInput<'replay'>

async function forkIn(app: App, input: ReplayInput): Promise<Extract<ReplayOutput, { forked_from: object }>> {
  const forked = await app.run('replay', input)
  return 'forked_from' in forked ? forked : assert.fail('the run was not forked')
}

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
    assert.deepEqual(
      { answer: first.answer, steps: first.steps, runs: tool.runs },
      { answer: 'natively', steps: 4, runs: 3 },
    )
    writeFileSync(join(first.workspace, 'kept.txt'), 'kept')
    const forked = await forkIn(app, { run: first.dispatch_id, from: 3, parser: 'json', memory: 'window' })
    assert.deepEqual(
      { answer: forked.answer, steps: forked.steps, runs: tool.runs },
      { answer: 'as text', steps: 4, runs: 3 },
    )
    assert.ok(existsSync(join(forked.workspace, 'kept.txt')))
    assert.notEqual(forked.workspace, first.workspace)
    const compared = await app.run('compare', { a: first.dispatch_id, b: forked.run_id })
    assert.deepEqual(
      { step: compared.first_divergence?.step, phase: compared.first_divergence?.phase },
      { step: 4, phase: 'DECIDE' },
    )
    assert.deepEqual({ a: compared.a.setup?.parser, b: compared.b.setup?.parser }, { a: 'native', b: 'json' })
    const again = await replayIn(app, forked.run_id)
    assert.deepEqual(
      { identical: again.identical, first_divergence: again.first_divergence },
      { identical: true, first_divergence: null },
    )
  })

  test('begins when it is forked, although its first records are older, and knows where it comes from', async (t) => {
    const clock = new FakeClock({ now: Date.UTC(2026, 10, 19, 12) })
    const model = scriptedModel([calls(0), { text: 'done' }, { text: 'done again' }])
    const app = await openApp(t, { model, clock, tools: [countingTool()] })
    const { dispatch_id } = await advanceUntilDone(clock, runTaskIn(app))
    await passTime(clock, 12 * 60_000)
    const forking = clock.now()
    const { run_id } = await advanceUntilDone(clock, forkIn(app, { run: dispatch_id, from: 1 }))
    const { manifest } = await app.run('trace show', { run: run_id })
    assert.ok(Date.parse(manifest.started_at ?? '') >= forking, `${manifest.started_at}`)
    const listed = (await app.run('trace list', {})).items.find((each) => each.run_id === run_id)
    assert.equal(listed?.started_at, manifest.started_at)
    const { metadata } = await app.run('queue show', { id: run_id })
    assert.deepEqual(metadata.forked_from, { run_id: dispatch_id, step: 1 })
    const html = join(freshFolder(t), 'run.html')
    await app.run('trace export', { run: run_id, html })
    assert.doesNotMatch(readFileSync(html, 'utf8'), /<dt>Duration<\/dt><dd>[^<]*min/)
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
    assert.deepEqual(
      { files: again.files, inWorkspace: filesIn(again.workspace) },
      { files: 'kept', inWorkspace: filesAfter(2) },
    )
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
