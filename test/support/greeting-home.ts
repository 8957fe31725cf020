/** A home whose front desk answers "Hello!" to a message that comes through a signed webhook. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { configFor } from '../crash/kills.ts'
import { startProvider } from './command-line.ts'
import { FRONT_MARK, writeTalkBehaviours } from './conversations.ts'
import { startHookServer } from './hook-server.ts'
import { freshFolder } from './open-app.ts'
import { sendSigned } from './signed-hook.ts'

/** `say` delivers the same message each time; `outside` gets the replies. */
export async function createGreetingHome(t: TestContext) {
  const outside = await startHookServer(t)
  const home = freshFolder(t)
  writeTalkBehaviours(home)
  const turns = [{ calls: [{ tool: 'route', args: { none: true, reply: 'Hello!' } }] }]
  const provider = await startProvider(t, { conversations: [{ match: FRONT_MARK, turns }] })
  const hook = `channels: { webhook: { url: "${outside.url}", secret: of the hook, chat_id: ops } }\n`
  writeFileSync(join(home, 'tireless.yaml'), `${configFor(provider)}server: { port: 0 }\n${hook}`)
  const say = (): Promise<void> => sendSigned(home, 'of the hook', { text: 'hi', chat_id: 'ops' }, 'd1')
  return { home, outside, provider, say }
}
