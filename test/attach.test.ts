import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { type Command, defineCommand } from '../src/commands/lib/command.ts'
import type { CommandContext } from '../src/commands/lib/context.ts'
import { askKernel, serveSocket } from '../src/server/socket.ts'
import {
  createHome,
  startKernelIn,
  startTireless,
  tireless,
  tirelessJson,
  waitForExit,
} from './support/command-line.ts'
import { freshFolder, openApp, waitUntil } from './support/open-app.ts'

interface EventLine {
  readonly run_id: string
  readonly phase: string
  readonly payload: { readonly agent_id?: string }
}

const parseEvents = (text: string): EventLine[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

async function waitForStderr(child: ChildProcess, pattern: RegExp): Promise<void> {
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text) => (stderr += text))
  await waitUntil(() => pattern.test(stderr))
}

describe('attach: a live view of the running kernel', () => {
  test('attach: prints events as they happen until it is interrupted; the kernel continues', async (t) => {
    const home = freshFolder(t)
    const kernel = await startKernelIn(t, home)
    const view = startTireless(t, home, 'attach', '--json')
    const eventsOfRun = (id: string): EventLine[] => parseEvents(view.output()).filter(({ run_id }) => run_id === id)
    let id = ''
    // The view may connect while the first dispatch runs or after it, so enqueue until one is seen from its start.
    await waitUntil(async () => {
      const enqueued = await tirelessJson<{ dispatch_id: string }>(home, 'enqueue', '--prompt', 'List the files.')
      id = enqueued.dispatch_id
      await waitUntil(async () => (await tirelessJson(home, 'queue', 'show', id)).status === 'done')
      return eventsOfRun(id)[0]?.phase === 'INIT'
    })
    await waitUntil(() => eventsOfRun(id).some(({ phase }) => phase === 'END'))
    assert.equal(eventsOfRun(id)[0]?.payload.agent_id, 'default')
    view.kill('SIGINT')
    assert.equal(await waitForExit(view), 0)
    assert.equal((await tirelessJson<{ kernel: { state: string } }>(home, 'status')).kernel.state, 'running')
    kernel.kill('SIGTERM')
    assert.equal(await waitForExit(kernel), 0)
  })

  test('attach: shows a sub-agent at work, from its start to its end, next to the run that spawned it', async (t) => {
    const call = (tool: string, args: object) => ({ calls: [{ tool, args: { ...args } }] })
    const lead = [call('spawn_agent', { task: 'count the leaves' }), call('wait', { for: 'agents' }), { text: 'seven' }]
    const home = await createHome(t, {
      conversations: [
        { match: 'look at the tree', turns: lead },
        { match: 'count the leaves', turns: [{ text: '7 leaves' }] },
      ],
    })
    const folder = join(home, 'agents', 'assistant', 'behaviours')
    mkdirSync(folder, { recursive: true })
    const rules = '## process_rules\nLook.\n\n## input\n{messages}\n\n{events}\n'
    writeFileSync(join(folder, 'lead.md'), `---\ntools: [spawn_agent, wait, finish]\n---\n${rules}`)
    await startKernelIn(t, home)
    const view = startTireless(t, home, 'attach', '--json')
    const show = () =>
      tirelessJson<{ status: string; children: { dispatch_id: string }[] }>(home, 'queue', 'show', dispatch_id)
    const phases = (id: string): string[] =>
      parseEvents(view.output()).flatMap(({ run_id, phase }) => (run_id === id ? [phase] : []))
    let dispatch_id = ''
    // The view may connect late, so enqueue until a run is seen.
    await waitUntil(async () => {
      const task = ['enqueue', 'look at the tree', '--behaviour', 'lead'] as const
      dispatch_id = (await tirelessJson<{ dispatch_id: string }>(home, ...task)).dispatch_id
      await waitUntil(async () => /done|failed/.test((await show()).status))
      assert.equal((await show()).status, 'done')
      return phases(dispatch_id)[0] === 'INIT'
    })
    const child = (await show()).children[0]?.dispatch_id ?? ''
    await waitUntil(() => phases(child).includes('END') && phases(dispatch_id).includes('END'))
    assert.equal(phases(child)[0], 'INIT')
  })

  test('attach: ends with the kernel, and does not keep the kernel from ending', async (t) => {
    const home = freshFolder(t)
    const kernel = await startKernelIn(t, home)
    const views = [startTireless(t, home, 'attach'), startTireless(t, home, 'attach')]
    await Promise.all(views.map((view) => waitForStderr(view, /Kernel default is running/)))
    kernel.kill('SIGTERM')
    assert.equal(await waitForExit(kernel), 0)
    for (const view of views) assert.equal(await waitForExit(view), 0)
  })

  test('attach: without a running kernel it fails, and does not lock the home', async (t) => {
    const home = freshFolder(t)
    const { exit, stderr } = await tireless(home, 'attach')
    assert.equal(exit, 1)
    assert.match(stderr, /no kernel is running in this home.*do this: run tireless start/)
    const app = await openApp(t, { home })
    await assert.rejects(app.run('attach', {}), { code: 'usage' })
  })

  test('attach: closing a home does not wait for attached views', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home })
    const view = startTireless(t, home, 'attach')
    await waitForStderr(view, /another command uses its home/)
    await app.close()
    assert.equal(await waitForExit(view), 0)
  })

  test('attach: a command is stopped when its client disconnects', async (t) => {
    const path = join(freshFolder(t), 'socket')
    const ends: string[] = []
    const lookCommand = defineCommand({
      ...{ name: 'look', summary: '', example: 'look', runsIn: 'kernel', input: z.object({}), output: z.null() },
      needs: ['signals'],
      async run({ signals }, _, tell) {
        tell({ kind: 'note', text: 'looking' })
        await new Promise((resolve) => signals.drain.addEventListener('abort', resolve))
        ends.push('gone')
        return null
      },
    })
    const context = { signals: { drain: new AbortController().signal, abort: new AbortController().signal } }
    const server = await serveSocket(
      path,
      async () => lookCommand as unknown as Command,
      context as unknown as CommandContext,
    )
    t.after(() => server.close())
    const leave = new AbortController()
    // After everything is read, only the end of the connection says that the client has left.
    const leaveAfterReading = (): void => void setImmediate(() => leave.abort())
    const answered = await askKernel(path, 'look', {}, leaveAfterReading, leave.signal)
    assert.deepEqual(answered, { output: null })
    await waitUntil(() => ends.length > 0)
  })
})
