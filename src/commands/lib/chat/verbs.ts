/**
 * Commands of the command line that can be used in a chat: a slash, the name of the command, and its arguments. The
 * list names those that are safe for anyone in a paired chat, and useful there: nothing that shows or changes secrets,
 * configuration, plugins, MCP servers or channels, replaces the program or its data, or needs a terminal.
 */

import { editDistance } from '../../../domain/edit-distance.ts'
import { asTirelessError } from '../../../domain/error.ts'
import type { Language } from '../../../domain/language.ts'
import type { ChatMessage } from '../../../domain/message.ts'
import type { Command } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { inputFields } from '../input-fields.ts'
import { ignoreProgress } from '../progress.ts'
import { type CommandName, findCommand } from '../registry.ts'
import { validateAndRun } from '../validate-and-run.ts'
import { inputFromWords, splitWords } from '../words.ts'
import { type ChatEffect, replyOnly } from './chat-effect.ts'
import { renderOutput } from './render-output.ts'

/** `slow`: it may run a model, or wait for a run. */
const CHAT_VERBS: Partial<Readonly<Record<CommandName, 'quick' | 'slow'>>> = {
  status: 'quick',
  ask: 'slow',
  report: 'quick',
  enqueue: 'quick',
  'agent list': 'quick',
  'agent show': 'quick',
  'agent run': 'slow',
  'agent enable': 'quick',
  'agent disable': 'quick',
  'cycle now': 'slow',
  'cycles list': 'quick',
  'cycles show': 'quick',
  pause: 'quick',
  resume: 'quick',
  'queue list': 'quick',
  'queue show': 'quick',
  'queue retry': 'quick',
  'queue prioritize': 'quick',
  'queue dismiss': 'quick',
  'queue cancel': 'slow',
  'queue pause': 'slow',
  'queue resume': 'quick',
  'sessions list': 'quick',
  'sessions archive': 'quick',
  'schedule list': 'quick',
  'schedule pause': 'quick',
  'schedule resume': 'quick',
  'schedule run': 'slow',
  'needs list': 'quick',
  'needs show': 'quick',
  'approvals list': 'quick',
  'approvals show': 'quick',
  'grants list': 'quick',
  'grants revoke': 'quick',
  'todo list': 'quick',
  'todo show': 'quick',
  'unknowns list': 'quick',
  'unknowns resolve': 'quick',
  'channels list': 'quick',
  'sources list': 'quick',
  'notices list': 'quick',
  'budget show': 'quick',
  'budget spend': 'quick',
  'models list': 'quick',
  'models test': 'slow',
  'skills list': 'quick',
  'skills show': 'quick',
  'documents list': 'quick',
  'state show': 'quick',
  'state log': 'quick',
  'memory list': 'quick',
  'memory show': 'quick',
  'memory search': 'quick',
  'memory forget': 'quick',
  'trace list': 'quick',
  'workspace list': 'quick',
  'workspace log': 'quick',
  undo: 'slow',
  'audit verify': 'quick',
}

/** Contract: what `/` and these words do; undefined: no command has such a name. */
export async function runVerb(
  context: CommandContext,
  message: ChatMessage,
  line: string,
  language: Language,
): Promise<ChatEffect | undefined> {
  const found = await findVerb(splitWords(line))
  if (!found) return undefined
  const { command, words } = found
  const pace = CHAT_VERBS[command.name as CommandName]
  if (pace === undefined) return replyOnly(TEXTS[language].notHere(command.name))
  const run = (): Promise<string> => runCommand(context, command, { message, words }, language)
  return { kind: 'run', pace, run }
}

interface FoundVerb {
  readonly command: Command
  readonly words: readonly string[]
}

/** A group alone lists or shows what it has: `/queue`, `/budget`. */
async function findVerb(typed: readonly string[]): Promise<FoundVerb | undefined> {
  const [name = '', ...rest] = typed.map((word, at) => (at < 2 ? word.toLowerCase() : word))
  const options = typed.slice(1)
  for (const words of [[name, ...rest], ...['list', 'show'].map((verb) => [name, verb, ...options])]) {
    const end = words.findIndex((word) => word.startsWith('-'))
    const command = await findCommand(end < 0 ? words : words.slice(0, end))
    if (!command) continue
    const length = command.name.split(' ').length
    // The words after the name are as typed.
    return { command, words: words[1] === typed[1]?.toLowerCase() ? typed.slice(length) : words.slice(length) }
  }
  return undefined
}

/** Contract: never rejects; the text of an error is the answer. */
async function runCommand(
  context: CommandContext,
  command: Command,
  { message, words }: { readonly message: ChatMessage; readonly words: readonly string[] },
  language: Language,
): Promise<string> {
  try {
    const input = inputFromWords(command, words)
    // A message that arrives again does not add a task again.
    const hasKey = inputFields(command).some(({ key }) => key === 'key')
    const key = `${message.channel} ${message.message_id}`
    const output = await validateAndRun(command, context, hasKey ? { key, ...input } : input, ignoreProgress)
    return context.redact(renderOutput(command.name, output, language))
  } catch (thrown) {
    const { code, message: text } = asTirelessError(thrown)
    const more = code === 'confirmation_needed' ? [TEXTS[language].confirm(`/${command.name} ${words.join(' ')}`)] : []
    return context.redact([text, ...more].join('\n'))
  }
}

/** Contract: the names of the commands, in the order of the list. */
export const chatVerbs = (): readonly string[] => Object.keys(CHAT_VERBS)

/** Contract: the name that looks most like the typed one. */
export function nearestVerb(typed: string, own: readonly string[]): string {
  const distances = [...own, ...chatVerbs()].map((name) => {
    const [group = name] = name.split(' ')
    return { name, distance: Math.min(editDistance(name, typed), editDistance(group, typed)) }
  })
  return distances.toSorted((a, b) => a.distance - b.distance)[0]?.name ?? 'help'
}

const TEXTS = {
  en: {
    notHere: (name: string) => `${name} cannot be used in a chat. Run it on the command line: tireless ${name}`,
    confirm: (line: string) => `To do it, send: ${line.trim()} --yes`,
  },
  zh: {
    notHere: (name: string) => `${name} 不能在聊天中使用。请在命令行运行：tireless ${name}`,
    confirm: (line: string) => `确认执行请发送：${line.trim()} --yes`,
  },
} as const satisfies Record<Language, object>
