/** Answers what a task waits for. */

import type { App } from '../app.ts'
import type { Dispatch } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import { describeValue } from '../domain/json.ts'
import { readAllApprovals, readTaskWait } from './task-wait.ts'

/** Text answers a question; `allow` answers a call that needs approval. `reason`: what the agent reads with it. */
export type TaskAnswer =
  | string
  | {
      readonly allow: boolean
      readonly reason?: string
      /** Which call; needed only if several wait. */
      readonly approval?: string
    }

export async function answerTask(app: App, dispatch: Dispatch, answer: TaskAnswer): Promise<void> {
  if (typeof answer === 'string') return answerQuestion(app, dispatch, answer)
  if (typeof answer?.allow !== 'boolean')
    throw new TirelessError('usage', {
      what: 'this is no answer',
      got: describeValue(answer),
      expected: 'text for a question, or { allow: true } or { allow: false } for a call that needs approval',
    })
  const open = await readAllApprovals(app.context.store, dispatch)
  const { allow, approval = open.length === 1 ? open[0]?.id : undefined } = answer
  if (open.length === 0) throw await waitsForNothing(app, dispatch, 'no call of the task waits for approval')
  if (approval === undefined || !open.some(({ id }) => id === approval))
    throw new TirelessError('usage', {
      what: approval === undefined ? 'several calls wait for approval' : 'no such approval is open',
      where: 'approval',
      got: approval ?? 'none',
      expected: open.map(({ id, tool }) => `${id} (${tool})`).join(', '),
    })
  const reason = answer.reason === undefined ? {} : { reason: answer.reason }
  await app.run(allow ? 'approvals allow' : 'approvals deny', { id: approval, ...reason })
}

async function answerQuestion(app: App, dispatch: Dispatch, text: string): Promise<void> {
  const wait = await readTaskWait(app.context.store, dispatch)
  if (wait?.kind !== 'question' && wait?.kind !== 'message')
    throw await waitsForNothing(app, dispatch, 'the task waits for no text')
  await app.run('send', { session: wait.session_id, text })
}

const HINTS: Readonly<Record<string, string>> = {
  approval: 'answer with { allow: true } or { allow: false }',
  question: 'answer with text',
  message: 'answer with text',
  event: 'send the event',
  unknown: 'run tireless unknowns resolve',
  paused: 'run tireless queue resume',
}

async function waitsForNothing(app: App, dispatch: Dispatch, what: string): Promise<TirelessError> {
  const wait = await readTaskWait(app.context.store, dispatch)
  const hint = HINTS[wait?.kind ?? '']
  const got = wait ? `it waits: ${wait.kind} (${wait.reason})` : `the task is ${dispatch.status}`
  return new TirelessError('conflict', { what, got, ...(hint === undefined ? {} : { fix: hint }) })
}
