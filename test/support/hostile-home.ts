/** A served home in which every text that a model, a tool, a file or a stranger can write means harm to a page. */

import type { TestContext } from 'node:test'
import { TirelessError } from '../../src/domain/error.ts'
import type { Model, ModelRequest } from '../../src/ports/model.ts'
import { type ScriptedAnswer, scriptedModel } from '../../src/testing/scripted-model.ts'
import { call, sendTool } from './approval-fixtures.ts'
import { routing, writeTalkBehaviours } from './conversations.ts'
import { fakeTool } from './fake-tools.ts'
import { type HttpApp, openHttpApp } from './http-app.ts'
import { freshFolder, waitUntil } from './open-app.ts'
import { PAYLOAD } from './talk-page.ts'

/** Contract: harmful text; the mark tells which one of them is shown. */
const harm = (mark: string): string => `${mark}-mark ${PAYLOAD}`

const FILE = 'file-mark <img src=x onerror="window.hacked = 9"> \u202egnp.md'

const RESIDENTS = [
  { agent_id: 'guide', hz: 5, goals: [harm('goal')], slots: ['city'] },
  { agent_id: 'watcher', hz: 5 },
]
const AGENTS = [{ agent_id: 'tender', prompt: harm('agent'), enabled: true }]

const textOf = ({ messages }: ModelRequest): string => messages.map(({ text }) => text).join('\n')

/** The word after `do:` in the task says what the run does. */
function work(request: ModelRequest, turn: number): ScriptedAnswer {
  const [, task] = /do:(\w+)/.exec(textOf(request)) ?? []
  if (task === 'fail') throw new TirelessError('model_refused', harm('error'))
  if (turn === 0 && task === 'publish') return { calls: [call('publish', { text: harm('publish') })] }
  if (turn === 0 && task === 'pay') return { calls: [call('pay', { to: harm('payee') })] }
  if (turn === 0 && task === 'ask') return { calls: [call('ask_user', { question: harm('question') })] }
  if (turn === 0 && task === 'write') return { text: harm('thought'), calls: writing() }
  return { text: harm('result') }
}

const writing = () => [
  call('create_file', { path: FILE, content: harm('content') }),
  call('todo_add', { title: harm('todo') }),
  call('echo', { text: harm('argument') }),
]

function look(request: ModelRequest): ScriptedAnswer {
  if (textOf(request).includes('sound')) throw new TirelessError('model_refused', harm('look'))
  const action = { type: 'query', payload: harm('said') }
  return { text: JSON.stringify({ thought: harm('thought'), action, known: { city: harm('known') } }) }
}

function hostileModel(): Model & { speak(): void } {
  let speak = (): void => {}
  const model = scriptedModel((request, turn) => {
    if (request.tools.some(({ name }) => name === 'route'))
      return routing({ new: harm('session'), reply: harm('reply') })
    return /do:\w/.test(textOf(request)) ? work(request, turn) : look(request)
  })
  return {
    ...model,
    speak: () => speak(),
    async call(request, options) {
      if (!textOf(request).includes('do:stay')) return model.call(request, options)
      speak = () => options.onText?.(`${harm('live')} `)
      await new Promise((resolve) => options.signal.addEventListener('abort', resolve, { once: true }))
      throw new TirelessError('aborted', 'the test is over')
    },
  }
}

const tools = () => [
  fakeTool({
    ...{ name: 'publish', effect: { recovery: 'once', reach: 'third_party' } },
    run: () => ({ status: 'unknown', content: harm('half') }),
  }),
  sendTool({ name: 'pay', run: () => 'paid', asks: () => harm('reason') }),
  fakeTool({ name: 'echo', effect: { recovery: 'pure', reach: 'none' }, run: () => harm('output') }),
]

export interface HostileHome extends HttpApp {
  /** Contract: the run that goes on says something more. */
  speak(): void
  /** The run that wrote files, and the id of its workspace. */
  readonly written: { readonly dispatch_id: string; readonly session_id: string; readonly workspace: string }
}

/** Contract: all of it has happened when it resolves; one run goes on. */
export async function openHostileHome(t: TestContext): Promise<HostileHome> {
  const stopping = new AbortController()
  const signals = { drain: stopping.signal, abort: stopping.signal }
  const working: Promise<unknown>[] = []
  // First of all, so that the work has stopped when the app is closed.
  t.after(async () => {
    stopping.abort()
    await Promise.all(working)
  })
  const home = freshFolder(t)
  const given = tools()
  writeTalkBehaviours(home, [...given.map(({ name }) => name), 'todo_add'])
  const yaml = JSON.stringify({ server: { port: 0 }, kernel: { agents: AGENTS }, residents: RESIDENTS })
  const model = hostileModel()
  const served = await openHttpApp(t, { home, yaml, model, tools: given, signals })
  const { context } = served.app
  working.push(context.drain({ untilIdle: false }), context.residents.run(stopping.signal))
  await fill(served)
  const { items } = await served.app.run('queue list', {})
  const written = items.find(({ prompt }) => prompt.includes('do:write')) ?? items[0]
  const { session_id = '', dispatch_id = '' } = written ?? {}
  const { workspace = '' } = (await context.store.session(session_id)) ?? {}
  return { ...served, speak: model.speak, written: { session_id, dispatch_id, workspace } }
}

async function fill({ app }: HttpApp): Promise<void> {
  const { store } = app.context
  await app.run('schedule add', { agent: 'tender', every: '1h', prompt: harm('schedule') })
  await app.run('send', { text: `do:write ${harm('message')}`, chat: 'page' })
  for (const task of ['publish', 'pay', 'ask', 'fail']) await app.run('enqueue', { prompt: `do:${task} ${harm(task)}` })
  await waitUntil(async () => {
    const { waiting, failed, pending, running } = await store.counts()
    return waiting >= 3 && failed >= 1 && pending + running === 0
  })
  await app.run('observe', { agent: 'guide', type: 'light' })
  await app.run('observe', { agent: 'watcher', type: 'sound', payload: JSON.stringify({ text: harm('heard') }) })
  await app.run('enqueue', { prompt: `do:stay ${harm('stay')}` })
  await waitUntil(async () => (await app.run('status', {})).health.reasons.some((text) => text.includes('look-mark')))
}
