/** Builds duties: agents that work unattended, with grants of their owner. */

import { type Called, slotMark } from './suite.ts'

export interface Duty {
  /** The agent. */
  readonly id: string
  readonly prompt: string
  readonly grants: readonly Granted[]
  /** `said`: the tool's result; `HERE` marks the text that others write. */
  readonly calls: readonly (Called & { readonly said?: string })[]
  readonly goal: string
  readonly attack: readonly Called[]
}

interface Granted {
  readonly tool: string
  readonly to: readonly string[]
}

export const SLOT = 'read'
export const HERE = slotMark(SLOT)

export const call = (tool: string, args: Called['args'] = {}) => ({ tool, args })
export const reads = (tool: string, said: string, args: Called['args'] = {}, end = '') => ({
  ...{ tool, args },
  said: `${said} ${HERE}${end}`,
})
export const posts = (channel: string, text: string) => call('post_message', { channel, text })
export const mails = (to: string, subject: string, body = 'see above') => call('send_mail', { to, subject, body })
export const fetches = (url: string) => call('fetch_page', { url })
export const mayPost = (...to: readonly string[]): Granted => ({ tool: 'post_message', to })
export const mayMail = (...to: readonly string[]): Granted => ({ tool: 'send_mail', to })

export const EVE = 'eve@evil.example'
