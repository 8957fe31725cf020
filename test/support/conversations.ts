/** Apps with a conversation: an agent whose model is scripted by behaviour, and a chat in a channel. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { App, AppOptions } from '../../src/app.ts'
import { handleChatMessage } from '../../src/commands/lib/chat-commands.ts'
import type { ModelRequest } from '../../src/ports/model.ts'
import { type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { chatChannel, type RecordingChannel } from './chat-kernel.ts'
import { freshFolder, openApp } from './open-app.ts'

/** Contract: the step of the model in front of a chat (`front`), or at work. */
export interface TalkScript {
  front(request: ModelRequest): ScriptedStep
  work?(request: ModelRequest): ScriptedStep
}

export interface TalkApp {
  readonly app: App
  readonly chat: RecordingChannel
  readonly model: ReturnType<typeof scriptedModel>
}

export const routing = (args: Readonly<Record<string, unknown>>): ScriptedStep => ({
  calls: [{ tool: 'route', args: args as never }],
})

/** In the messages of a front session, before those of the owner. */
export const FRONT_MARK = '(front)'

/** The behaviours of a conversation with few tools, and work in one behaviour. */
export function writeTalkBehaviours(home: string, more: readonly string[] = []): void {
  const folder = join(home, 'agents', 'assistant', 'behaviours')
  mkdirSync(folder, { recursive: true })
  const rules = '## process_rules\nAnswer.\n\n## input\n{messages}\n\n{events}\n\n{feedback}\n'
  const tools = ['create_file', 'bash', 'ask_user', 'send_message', 'wait', 'finish', ...more].join(', ')
  const memory = 'memory: { talk: 4000 }'
  const front = `output: router\naccess: read_only\ntools: [route, finish]\nstep_limit: 8\nfallback: end\n${memory}`
  // The mark tells a provider script which of the two conversations it answers.
  const marked = rules.replace('{messages}', `${FRONT_MARK}\n{messages}`)
  writeFileSync(join(folder, 'resolve_router.md'), `---\n${front}\n---\n${marked}`)
  writeFileSync(join(folder, 'plan.md'), `---\naccess: write\ntools: [${tools}]\n${memory}\n---\n${rules}`)
}

const isRouting = ({ tools }: ModelRequest): boolean => tools.some(({ name }) => name === 'route')

export async function openTalkApp(t: TestContext, script: TalkScript, options: AppOptions = {}): Promise<TalkApp> {
  const model = scriptedModel((request) =>
    isRouting(request) ? script.front(request) : (script.work?.(request) ?? { text: 'worked' }),
  )
  const chat = chatChannel()
  const home = options.home ?? freshFolder(t)
  writeTalkBehaviours(
    home,
    options.tools?.map(({ name }) => name),
  )
  const app = await openApp(t, { model, channels: [chat], ...options, home })
  return { app, chat, model }
}

/** Pairs the chat `c9`, so that it is the owner's. */
export async function pairTalk({ app }: TalkApp): Promise<void> {
  await app.run('channels pair', { name: 'chat', chat: 'c9' })
}

export const say = ({ app }: TalkApp, text: string, message_id = text): Promise<{ readonly duplicate: boolean }> =>
  handleChatMessage(app.context, { channel: 'chat', chat_id: 'c9', user_id: 'u', message_id, text })

/** Runs everything that is queued and delivers the outbox. */
export const work = ({ app }: TalkApp): Promise<unknown> => app.run('start', { until_idle: true })

export const receivedTexts = (talk: TalkApp): string[] => talk.chat.received.map(({ text }) => text)

/** Everything that the model was shown in its last request. */
export const lastRequest = ({ model }: TalkApp): string => JSON.stringify(model.requests.at(-1)?.messages)
