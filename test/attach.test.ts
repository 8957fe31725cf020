import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { type Command, type CommandContext, defineCommand } from '../src/commands/lib/command.ts'
import { askKernel, serveSocket } from '../src/server/socket.ts'
import { startKernelIn, startTireless, tireless, tirelessJson, waitForExit } from './support/command-line.ts'
import { freshFolder, openApp, waitUntil } from './support/open-app.ts'

interface Told {
  readonly run_id: string
  readonly phase: string
  readonly payload: { readonly agent_id?: string }
}

const eventsIn = (text: string): Told[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

/** On its stderr. */
async function saying(child: ChildProcess, words: RegExp): Promise<void> {
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text) => (said += text))
  await waitUntil(() => words.test(said))
}

describe('attach: a live view of the holder', () => {
  test('attach: events as they happen, until it is interrupted; the kernel goes on', async (t) => {
    const home = freshFolder(t)
    const kernel = await startKernelIn(t, home)
    const view = startTireless(t, home, 'attach', '--json')
    const seen = (id: string): Told[] => eventsIn(view.output()).filter(({ run_id }) => run_id === id)
    let id = ''
    // Whoever looks on may come while the first of them is under way, or after it.
    await waitUntil(async () => {
      const made = await tirelessJson<{ dispatch_id: string }>(home, 'enqueue', '--prompt', 'List the files.')
      id = made.dispatch_id
      await waitUntil(async () => (await tirelessJson(home, 'queue', 'show', id)).status === 'done')
      return seen(id)[0]?.phase === 'INIT'
    })
    await waitUntil(() => seen(id).some(({ phase }) => phase === 'END'))
    assert.equal(seen(id)[0]?.payload.agent_id, 'default')
    view.kill('SIGINT')
    assert.equal(await waitForExit(view), 0)
    assert.equal((await tirelessJson<{ kernel: { state: string } }>(home, 'status')).kernel.state, 'running')
    kernel.kill('SIGTERM')
    assert.equal(await waitForExit(kernel), 0)
  })

  test('attach: it ends with the kernel, and keeps nobody from ending', async (t) => {
    const home = freshFolder(t)
    const kernel = await startKernelIn(t, home)
    const views = [startTireless(t, home, 'attach'), startTireless(t, home, 'attach')]
    await Promise.all(views.map((view) => saying(view, /Kernel default is running/)))
    kernel.kill('SIGTERM')
    assert.equal(await waitForExit(kernel), 0)
    for (const view of views) assert.equal(await waitForExit(view), 0)
  })

  test('attach: where nobody is at work there is nothing to see, and no home is taken', async (t) => {
    const home = freshFolder(t)
    const { exit, stderr } = await tireless(home, 'attach')
    assert.equal(exit, 1)
    assert.match(stderr, /no kernel is running in this home.*do this: run tireless start/)
    const app = await openApp(t, { home })
    await assert.rejects(app.run('attach', {}), { code: 'usage' })
  })

  test('attach: a home that is closed waits for nobody who looks on', async (t) => {
    const home = freshFolder(t)
    const app = await openApp(t, { home })
    const view = startTireless(t, home, 'attach')
    await saying(view, /another command uses its home/)
    await app.close()
    assert.equal(await waitForExit(view), 0)
  })

  test('attach: whoever goes away is told nothing more', async (t) => {
    const path = join(freshFolder(t), 'socket')
    const ends: string[] = []
    const looking = defineCommand({
      ...{ name: 'look', summary: '', example: 'look', runsIn: 'kernel', input: z.object({}), output: z.null() },
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
      async () => looking as unknown as Command,
      context as unknown as CommandContext,
    )
    t.after(() => server.close())
    const enough = new AbortController()
    // Once everything is read: then nothing but the end of the connection tells that it is over.
    const read = (): void => void setImmediate(() => enough.abort())
    const answered = await askKernel(path, 'look', {}, read, enough.signal)
    assert.deepEqual(answered, { output: null })
    await waitUntil(() => ends.length > 0)
  })
})
