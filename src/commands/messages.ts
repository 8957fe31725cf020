/** The messages of a chat, with the runs that worked on each. */

import { relative } from 'node:path'
import { z } from 'zod'
import { DISPATCH_STATUSES, type Dispatch, isTerminal } from '../domain/dispatch.ts'
import { type JournalRecord, recordsOfRun } from '../domain/journal-record.ts'
import { languageOf } from '../domain/language.ts'
import { TODO_STATUSES } from '../domain/todo.ts'
import { namedChat } from '../kernel/conversation/front-session.ts'
import { iso } from '../ports/clock.ts'
import { fallbackIfUnreadable } from '../ports/store.ts'
import { readChatLog } from './lib/chat-log.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { endText, hasRead, routedOf } from './lib/follow-message.ts'
import { howMuchNotUnderstood, notUnderstoodShape } from './lib/not-understood.ts'
import { decisionShape, decisionsIn, mayUndo, questionAnsweredBy } from './lib/run-decisions.ts'
import { questionOf, titleOfWork } from './lib/session-thread.ts'
import { findUndone, undoneByShape } from './lib/undone-runs.ts'
import { filesWrittenBy } from './lib/written-files.ts'
import { TERMINAL } from './send.ts'

const runShape = z.object({
  dispatch_id: z.string(),
  session_id: z.string(),
  agent_id: z.string(),
  title: z.string(),
  status: z.enum(DISPATCH_STATUSES),
  text: z.string().nullable().describe('Markdown: the answer, or what went wrong; null: nothing yet'),
  not_understood: notUnderstoodShape,
  question: z.string().nullable().describe('what the run asks and waits for'),
  waits_for: z.string().nullable().describe('why a run that waits does not go on'),
  files: z.array(z.string()).describe('files that the run created or changed, relative to its workspace'),
  todos: z.array(z.object({ code: z.string(), title: z.string(), status: z.enum(TODO_STATUSES) })),
  decisions: z.array(decisionShape).describe('what the owner answered to calls that needed approval'),
  undoable: z.boolean().describe('it may have changed files, facts or documents, which an undo takes back'),
  undone_by: undoneByShape,
  created_at: z.string(),
  updated_at: z.string(),
})
type MessageRun = z.input<typeof runShape>

export const messagesList = defineCommand({
  name: 'messages list',
  summary: 'list the last messages of a chat, with the runs that worked on each',
  example: 'messages list --chat terminal',
  runsIn: 'any_process',
  needs: ['redact', 'snapshots', 'store'],
  input: z.object({
    chat: z.string().trim().min(1).max(100).default(TERMINAL).describe('name of the chat'),
    limit: z.int().positive().max(100).default(20).describe('maximum number of messages'),
  }),
  output: z.object({
    items: z
      .array(
        z.object({
          id: z.string(),
          at: z.string(),
          text: z.string(),
          asked: z.string().nullable().describe('the question that it answers'),
          reply: z.string().nullable().describe('what was said at once'),
          runs: z.array(runShape).describe('in the order in which they got the message'),
        }),
      )
      .describe('oldest first'),
    more: z.boolean().describe('there are earlier messages'),
  }),
  async run(context, { chat, limit }) {
    const log = await readChatLog(context, namedChat(chat).front)
    const reader = new RunReader(context, await findUndone(context))
    const items = []
    // One after the other, because journals can be long.
    for (const { id, at, text, reply, session_id, dispatch_id } of log.slice(-limit)) {
      const start = session_id === null ? undefined : { id, session_id, dispatch_id }
      const runs = start ? await reader.runsOf(start, text) : []
      items.push({ id, at: iso(at), text, asked: await reader.questionOf(id, runs), reply, runs })
    }
    return { items, more: log.length > limit }
  },
})

interface DeliveredMessage {
  readonly id: string
  readonly session_id: string
  /** Null: the program was killed before it noted it. */
  readonly dispatch_id: string | null
}

/** A message is passed on at most once; more would be a loop. */
const MAX_RUNS = 4
const MAX_DECISIONS = 100

/** Reads the runs of many messages; each journal is read once. */
class RunReader {
  readonly #context: Needs<'redact' | 'snapshots' | 'store'>
  readonly #undoneBy: (run: string) => string | null
  readonly #journals = new Map<string, Promise<readonly JournalRecord[]>>()

  constructor(context: Needs<'redact' | 'snapshots' | 'store'>, undoneBy: (run: string) => string | null) {
    this.#context = context
    this.#undoneBy = undoneBy
  }

  /** Contract: the run that read the message, the run to which that one passed it on, and so on. */
  async runsOf(message: DeliveredMessage, said: string): Promise<MessageRun[]> {
    const runs: MessageRun[] = []
    let next: DeliveredMessage | undefined = message
    while (next && runs.length < MAX_RUNS) {
      const dispatch: Dispatch | undefined = await this.#findReader(next)
      if (!dispatch) break
      const records = recordsOfRun(await this.#journal(dispatch.session_id), dispatch.dispatch_id)
      runs.push(await this.#describe(dispatch, records, said))
      const { session_id, dispatch_id } = routedOf(records) ?? {}
      next = session_id && dispatch_id ? { id: message.id, session_id, dispatch_id } : undefined
    }
    return runs
  }

  /** Contract: the question that the message answers; null if it answers none. */
  async questionOf(message: string, runs: readonly MessageRun[]): Promise<string | null> {
    for (const { session_id } of runs) {
      const asked = questionAnsweredBy(await this.#journal(session_id), message)
      if (asked !== null) return this.#context.redact(asked)
    }
    return null
  }

  /** The run that got the message may have ended before it read it; then another one was started for it. */
  async #findReader({ id, session_id, dispatch_id }: DeliveredMessage): Promise<Dispatch | undefined> {
    const { store } = this.#context
    const newest = async () => (await store.dispatchesIn(session_id, { offset: 0, limit: 1 })).items[0]
    const dispatch = dispatch_id === null ? await newest() : await store.dispatch(dispatch_id)
    if (!dispatch || !isTerminal(dispatch.status)) return dispatch
    const journal = await this.#journal(session_id)
    const at = journal.findLastIndex((record) => hasRead([record], id))
    const start = journal.slice(0, at + 1).findLast(({ kind }) => kind === 'run_started')
    return start?.kind === 'run_started' ? ((await store.dispatch(start.run_id)) ?? dispatch) : dispatch
  }

  async #describe(dispatch: Dispatch, records: readonly JournalRecord[], said: string): Promise<MessageRun> {
    const { dispatch_id, session_id, agent_id, status, wait, created_at, updated_at } = dispatch
    const { store, redact } = this.#context
    const session = await store.session(session_id)
    const files = await filesWrittenBy(this.#context, dispatch_id)
    const text = isTerminal(status) ? endText(dispatch, records, [], languageOf(said)) : undefined
    const approvals = await fallbackIfUnreadable(store.approvals({ session_id, limit: MAX_DECISIONS }), [])
    const todos = await fallbackIfUnreadable(store.todos(session_id), [])
    return {
      ...{ dispatch_id, session_id, agent_id, status, created_at, updated_at },
      title: titleOfWork(dispatch),
      text: text === undefined ? null : redact(text),
      not_understood: status === 'done' ? howMuchNotUnderstood(records, text ?? '') : null,
      question: questionOf(dispatch, records),
      waits_for: wait?.reason ?? null,
      files: files.map((file) => relative(session?.workspace ?? '/', file)),
      todos: todos.map(({ code, title, status: todo }) => ({ code, title, status: todo })),
      decisions: decisionsIn(approvals, dispatch, redact),
      undoable: mayUndo(dispatch, records, files),
      undone_by: this.#undoneBy(dispatch_id),
    }
  }

  #journal(session_id: string): Promise<readonly JournalRecord[]> {
    const journal = this.#journals.get(session_id) ?? fallbackIfUnreadable(this.#context.store.journal(session_id), [])
    this.#journals.set(session_id, journal)
    return journal
  }
}
