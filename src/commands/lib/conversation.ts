/** Messages of the owner, from any place: what they do is committed once, and an immediate reply with it. */

import { asTirelessError, TirelessError } from '../../domain/error.ts'
import { languageOf } from '../../domain/language.ts'
import { type Chat, namedChat, type OwnerMessage } from '../../kernel/conversation/front-session.ts'
import { type Reception, receiveMessage } from '../../kernel/conversation/receive-message.ts'
import { answerByRule } from '../../past/answer-by-rule.ts'
import { readQuestion } from '../../past/question.ts'
import { isOfflineModel } from '../../ports/model.ts'
import { commitOne, type Op, type OpResults } from '../../ports/store.ts'
import type { Needs } from './context.ts'
import { asksWhatIsPossible, sayNotPossible, sayWhatIsPossible } from './offline-help.ts'

export const CONVERSATION_NEEDS = [
  ...(['agents', 'clock', 'ids', 'kernelId', 'models', 'past', 'prepareWorkspace', 'redact', 'store'] as const),
] as const
export type ConversationNeeds = Needs<(typeof CONVERSATION_NEEDS)[number]>

interface Submission {
  readonly duplicate: boolean
  /** The session that got the message, and its dispatch in flight; null if none did. */
  readonly session_id: string | null
  readonly dispatch_id: string | null
  /** What was said at once. */
  readonly text: string | null
}

/** How a message is recorded, so that it is handled once. */
interface Delivery {
  /** Operations that are refused as a `conflict` if the message was handled before; empty: it has no delivery id. */
  readonly hear: readonly Op[]
  /** Contract: the operations that send an immediate reply. */
  reply?(text: string): readonly Op[]
  /** Contract: operations that record the message with what became of it. */
  log?(became: { readonly session_id: string | null; readonly reply: string | null }): Promise<readonly Op[]>
}

/** Another message may create the session in front of the chat at the same time; then the second try succeeds. */
const TRIES = 2

/** Contract: handles the message once; resolves when the result is on disk. Throws `conflict` if that is impossible. */
export async function submitMessage(
  context: ConversationNeeds,
  chat: Chat,
  said: OwnerMessage,
  delivery: Delivery,
): Promise<Submission> {
  let failure: TirelessError | undefined
  for (let tried = 0; tried < TRIES; tried += 1) {
    const reception = await receiveMessage(context, chat, said, {
      isNew: (text) => isPastQuestion(context, text),
      answerAtOnce: (text) => answerOffline(context, chat, text),
    })
    try {
      return await commitReception(context.store, reception, delivery)
    } catch (thrown) {
      failure = asTirelessError(thrown)
      if (failure.code !== 'conflict') throw failure
    }
  }
  return explainConflict(context.store, failure ?? new TirelessError('internal', 'no try was made'), delivery)
}

/** People leave out the mark of a question; an answer such as "do what you did yesterday" asks nothing. */
const ASKS = new RegExp(
  '[?？]\\s*$|^\\s*(?:(?:and|so|but|hey|ok|please) )*(?:wh?ats?|why|who|which|whens?|how (?:much|many|come)|did' +
    '|have you|has|any\\w*|is there|are there)\\b|什么|多少|吗|呢|哪|谁|啥|为何|为什么|几个|几点|有没有',
  'i',
)
const ANSWERS = /都(?:行|可以|好)|随便/

/** Contract: whether the text is a question, with or without its mark. */
export const asksSomething = (text: string): boolean => ASKS.test(text) && !ANSWERS.test(text)

const isPastQuestion = ({ past }: ConversationNeeds, text: string): boolean =>
  asksSomething(text) && readQuestion(text, past.now(), past.clock()).kind !== undefined

/** Without a model, questions about the past are answered by rule, and everything else by what is possible. */
async function answerOffline(
  { past, models, redact }: ConversationNeeds,
  { front }: Chat,
  text: string,
): Promise<string | undefined> {
  if (!isOfflineModel((await models.choice()).id)) return undefined
  const onPage = front === PAGE.front
  if (asksWhatIsPossible(text)) return sayWhatIsPossible(languageOf(text), onPage)
  const { text: answer, kind } = await answerByRule(past, text, onPage)
  return kind === undefined ? sayNotPossible(languageOf(text), onPage) : redact(answer)
}

/** The chat of the page. */
const PAGE = namedChat('page')

async function commitReception(
  store: ConversationNeeds['store'],
  { ops, session_id, text }: Reception,
  { hear, reply, log }: Delivery,
): Promise<Submission> {
  const said = text === undefined ? [] : (reply?.(text) ?? [])
  const logged = (await log?.({ session_id, reply: text ?? null })) ?? []
  const all = [...hear, ...ops, ...said, ...logged]
  const results = all.length === 0 ? [] : await commitOne<readonly Op[]>(store, all)
  const at = all.findLastIndex(({ op }) => op === 'publish' || op === 'answer')
  const { duplicate = false, dispatch_id } = (results[at] ?? { dispatch_id: null }) as Partial<OpResults['publish']>
  return { duplicate, session_id, dispatch_id: dispatch_id ?? null, text: text ?? null }
}

/** A message that was handled before is a duplicate; if it could not be handled, its sender is told. */
export async function explainConflict(
  store: ConversationNeeds['store'],
  failure: TirelessError,
  { hear, reply }: Delivery,
): Promise<Submission> {
  const told = reply?.(failure.message)
  if (hear.length === 0) throw failure
  try {
    await commitOne<readonly Op[]>(store, [...hear, ...(told ?? [])])
  } catch (thrown) {
    if (asTirelessError(thrown).code !== 'conflict') throw thrown
    return { duplicate: true, session_id: null, dispatch_id: null, text: null }
  }
  if (!told) throw failure
  return { duplicate: false, session_id: null, dispatch_id: null, text: failure.message }
}
