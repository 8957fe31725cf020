/** Requests to a model: sent only when needed, well-formed, and earlier messages never change. */

import type { Observation } from '../../../src/domain/observation.ts'
import type { ModelMessage, ModelRequest } from '../../../src/ports/model.ts'
import type { SimProcess } from '../process.ts'
import type { World } from '../world.ts'
import type { SessionState } from './session.ts'

/** The last request of a session. */
interface LastRequest {
  readonly turn: number
  /** How often the session's conversation had started anew by then. */
  readonly cuts: number
  readonly messages: readonly string[]
  /** The messages of the last answered request: no later request may change them. */
  readonly permanent: readonly string[]
}

export class Conversations {
  readonly #sent = new Map<string, LastRequest>()

  /** Contract: called when a request reaches the provider. Requests of a superseded process are not checked. */
  check(world: World, proc: SimProcess, session: SessionState, request: ModelRequest): void {
    const { open } = session
    const at = `${session.session_id} turn ${open?.turn}`
    const held = world.mirror.dispatchOf(session)
    if (held?.status !== 'running' || held.epoch !== proc.epoch)
      world.fail('I1', `${at}: process ${proc.id} calls a model, and does not hold the dispatch`)
    if (!open) {
      world.fail('I8', `${session.session_id}: a model is called, and no turn is open`)
      return
    }
    if (open.answer || open.decided)
      world.fail('I4', `${at}: a model is called, and the answer is already in the journal`)
    if (!open.awaitsAnswer) world.fail('inference', `${at}: the request is not on disk`)
    if (!open.hasCause) world.fail('I8', `${at}: a model is called without input`)
    checkWellFormed(request.messages, (message) => world.fail('conversation', `${at}: ${message}`))
    checkInputShown(open.input, request.messages, (message) => world.fail('incoming message', `${at}: ${message}`))
    this.#checkPrefix(world, session, open.turn, request.messages)
    world.talk.onRequest(session, request.messages)
    world.looks.onRequest(session, request.messages)
    if (open.requests > 1) world.counters.add('model called again after a crash')
  }

  /** Retention has deleted the session; another one may get its id. */
  forget(session_id: string): void {
    this.#sent.delete(session_id)
  }

  #checkPrefix(world: World, session: SessionState, turn: number, sent: readonly ModelMessage[]): void {
    const messages = sent.map((message) => JSON.stringify(message))
    const known = this.#sent.get(session.session_id)
    // A cut and another behaviour start a new conversation.
    const last = known?.cuts === session.cuts ? known : undefined
    const answered = last !== undefined && session.answered.has(last.turn)
    const permanent = answered ? last.messages : (last?.permanent ?? [])
    const expected = last?.turn === turn ? last.messages : permanent
    const broken = expected.findIndex((message, i) => messages[i] !== message)
    if (broken >= 0 || (last?.turn === turn && messages.length !== expected.length))
      world.fail(
        'conversation',
        `${session.session_id} turn ${turn}: message ${broken} was ${expected[broken]}, is ${messages[broken]}`,
      )
    this.#sent.set(session.session_id, { turn, cuts: session.cuts, messages, permanent })
  }
}

/** Nothing is acknowledged unseen: bound input is in the request, whole or with a mark for the omitted part. */
function checkInputShown(
  input: readonly Observation[],
  messages: readonly ModelMessage[],
  fail: (message: string) => void,
): void {
  const shown = messages.flatMap((message) => (message.role === 'user' ? [withoutQuotes(message.text)] : [])).join('\n')
  for (const observation of input) {
    const mark = observation.type === 'user_message' ? MARK.exec(observation.text)?.[0] : undefined
    if (mark !== undefined && !shown.includes(mark)) fail(`${mark} is bound, and is not in the request`)
  }
}

/**
 * Quoted messages are not counted again: those in the summary of a cut history, and the newest one in the overflow
 * notice, which is a line of its own and may have lost its beginning when a long text was shortened; and those that a
 * behaviour is shown as the conversation so far.
 */
const withoutQuotes = (text: string): string =>
  text.replaceAll(/<data (\w+) summary>[\s\S]*?<\/data \1>/g, '').replaceAll(/^.*","note":".*$|^Owner: .*$/gm, '')

/** The tag and number of a message. Not in quotes, as in other notices. */
export const MARK = /(?<!")\b[tc]\d+#(?:m\d+|w\d+m\d+)\b/

function checkWellFormed(messages: readonly ModelMessage[], fail: (message: string) => void): void {
  const used = new Set<string>()
  const due = new Map<string, string>()
  const said = new Set<string>()
  for (const message of messages) {
    if (message.role !== 'tool' && due.size > 0) fail(`no result of ${[...due.keys()].join(', ')}`)
    if (message.role === 'assistant')
      for (const { id, tool } of message.calls) {
        if (used.has(id)) fail(`the call id ${id} is used twice`)
        used.add(id)
        due.set(id, tool)
      }
    if (message.role === 'tool') {
      if (due.get(message.call_id) !== message.tool) fail(`a result of ${message.call_id}, which is not an open call`)
      due.delete(message.call_id)
    }
    if (message.role === 'user')
      for (const [mark] of withoutQuotes(message.text).matchAll(new RegExp(MARK, 'g'))) {
        if (said.has(mark)) fail(`${mark} appears twice`)
        said.add(mark)
      }
  }
  if (due.size > 0) fail(`no result of ${[...due.keys()].join(', ')}`)
  if (messages.length === 0) fail('the request has no messages')
}
