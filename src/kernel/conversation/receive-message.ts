/**
 * What a message of the owner does: it answers what the chat was asked; in a thread that belongs to a session it goes
 * there; otherwise it goes to the session in front of the chat.
 * Must not know: how the message came, how the answer is delivered.
 */

import { assertNever } from '../../domain/error.ts'
import { type Language, languageOf } from '../../domain/language.ts'
import type { ReplyTo } from '../../domain/reply-to.ts'
import { shortId } from '../../domain/short-id.ts'
import { readThreadBinding, threadSetting } from '../../domain/thread-binding.ts'
import { fallbackIfUnreadable, type Op, type Store } from '../../ports/store.ts'
import { answerOps } from './answer-approval.ts'
import { type Expectation, matchExpectation, readExpectations } from './expectations.ts'
import { type Chat, type ConversationDeps, frontOps, type OwnerMessage, sessionOps } from './front-session.ts'

export interface Reception {
  readonly ops: readonly Op[]
  /** The session that got the message; null if none did. */
  readonly session_id: string | null
  /** What to say at once. */
  readonly text?: string
}

interface Listener {
  /** Contract: whether the text answers nothing that was asked, because it is itself a question about the past. */
  isNew(text: string): boolean
  /** Contract: the answer that needs no run; undefined: the session in front of the chat answers. */
  answerAtOnce(text: string): Promise<string | undefined>
}

/** Contract: changes nothing; the operations that the message needs. */
export async function receiveMessage(
  deps: ConversationDeps,
  chat: Chat,
  said: OwnerMessage,
  { isNew, answerAtOnce }: Listener,
): Promise<Reception> {
  const match =
    said.isNew || isNew(said.text)
      ? ({ kind: 'none' } as const)
      : matchExpectation(said.text, await readExpectations(deps.store, chat.reply_to))
  switch (match.kind) {
    case 'none': {
      const text = await answerAtOnce(said.text)
      if (text !== undefined) return { ops: [], session_id: null, text }
      const bound = await boundSession(deps.store, chat.reply_to)
      if (bound !== undefined) return received(await sessionOps(deps, chat, bound, said), bound)
      return received(await frontOps(deps, chat, said), chat.front)
    }
    case 'question':
      return received(await sessionOps(deps, chat, match.session_id, said), match.session_id)
    case 'approval': {
      const { approval, answer } = match
      const ops = answerOps({ approval_id: approval.id, answer, reason: null, grant: null }, deps.clock)
      const text = TEXTS[languageOf(said.text)][answer](approval.tool)
      return { ops, session_id: approval.session_id, text }
    }
    case 'unclear':
      return { ops: [], session_id: null, text: askWhich(match.candidates, languageOf(said.text)) }
    default:
      return assertNever(match)
  }
}

const received = ({ ops, note }: Awaited<ReturnType<typeof sessionOps>>, session_id: string): Reception => ({
  ...{ ops, session_id },
  ...(note === undefined ? {} : { text: note }),
})

/** Contract: the session to which earlier messages of this thread were passed on; undefined if there is none. */
async function boundSession(store: Store, to: ReplyTo): Promise<string | undefined> {
  const name = threadSetting(to)
  const bound = name && readThreadBinding(await fallbackIfUnreadable(store.setting(name), null))
  return bound !== undefined && (await store.session(bound)) ? bound : undefined
}

function askWhich(candidates: readonly Expectation[], language: Language): string {
  const lines = candidates.map((one) =>
    one.kind === 'approval'
      ? `- ${one.approval.tool}: \`/allow ${shortId(one.approval.id)}\` · \`/deny ${shortId(one.approval.id)}\``
      : `- ${one.question}\n  \`/to ${shortId(one.session_id)} …\``,
  )
  return [TEXTS[language].which, ...lines].join('\n')
}

const TEXTS = {
  en: {
    allowed: (tool: string) => `Allowed: ${tool}.`,
    denied: (tool: string) => `Denied: ${tool}.`,
    which: 'Several things wait for your answer. Which one do you mean?',
  },
  zh: {
    allowed: (tool: string) => `已批准：${tool}。`,
    denied: (tool: string) => `已拒绝：${tool}。`,
    which: '有几件事在等你回答，你指的是哪一件？',
  },
} as const satisfies Record<Language, object>
