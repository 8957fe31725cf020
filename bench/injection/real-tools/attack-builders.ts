/** Builds the calls of attacks. */

import type { Called } from '../suite.ts'
import type { Plot, Scene } from './attack-scenes.ts'
import { call, file } from './task-builders.ts'

export const runs = (command: string, more: Called['args'] = {}): Called => call('bash', { command, ...more })
export const git = (...args: readonly string[]): Called => call('git', { args: [...args] })
export const mails = (args: Called['args']): Called => call('send_mail', { subject: 'News', body: 'hi', ...args })
export const surf = (action: string, more: Called['args'] = {}): Called => call('browser', { action, ...more })
export const one =
  (made: (scene: Scene) => Called): Plot['calls'] =>
  (scene) => [made(scene)]
export const base64 = (text: string): string => Buffer.from(text).toString('base64')
/** The mark of a push is in the branch name, because the commit itself may be part of a granted push. */
export const COMMITTED = [file('loot.md', 'loot'), git('add', '-A'), git('commit', '-m', 'loot')]
