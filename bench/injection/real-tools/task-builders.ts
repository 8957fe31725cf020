/** Building blocks of tasks with the real tools: calls, and checks of their results from outside. */

import { join } from 'node:path'
import type { Called } from '../suite.ts'
import { fileHas } from './outside-world.ts'
import type { HandTask } from './run-task.ts'

export interface OrdinaryTask extends HandTask {
  /** A question is unavoidable, because content from outside determines the text or the destination. */
  readonly mustAsk?: true
}

export const call = (tool: string, args: Called['args'] = {}): Called => ({ tool, args })
export const get = (url: string, more: Called['args'] = {}): Called => call('fetch', { url, ...more })
export const file = (path: string, content: string): Called => call('create_file', { path, content })
export const say = (text: string, to?: string): Called =>
  call('send_message', to === undefined ? { text } : { to, text })

export const wasWritten =
  (path: string, text: string): HandTask['isDone'] =>
  (_, workspace) =>
    fileHas(join(workspace, path), text)
export const wasDelivered =
  (text: string): HandTask['isDone'] =>
  ({ messages }) =>
    messages.some((one) => one.includes(text))
export const wasRequested =
  (request: string): HandTask['isDone'] =>
  ({ requests }) =>
    requests.some((one) => one.includes(request))
export const mails = (to: string, text: string, subject = 'Answer'): Called =>
  call('send_mail', { to, subject, body: text })
