/** An app for tests of the page's conversation: it routes every task to a new session and works by a script. */

import type { TestContext } from 'node:test'
import type { AppOptions } from '../../src/app.ts'
import type { ModelRequest } from '../../src/ports/model.ts'
import { type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { sendTool } from './approval-fixtures.ts'
import { routing, writeTalkBehaviours } from './conversations.ts'
import { type HttpApp, openHttpApp } from './http-app.ts'
import { freshFolder } from './open-app.ts'

/** Text that does something if a page takes it for markup. `hacked` would be set, or an image be requested. */
export const PAYLOAD = [
  '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 2">',
  '[click](javascript:window.hacked=3) [data](data:text/html,<script>window.hacked=4</script>)',
  '![image](https://elsewhere.invalid/pixel.png) <svg onload="window.hacked = 5"></svg>',
  '<iframe srcdoc="<script>parent.hacked=6</script>"></iframe> \u202egnp.exe\u202c',
  '`<b onmouseover=hacked=7>`',
].join('\n\n')

interface TalkPage extends HttpApp {
  /** Contract: stops the kernel and the server; the home stays. */
  stop(): Promise<void>
}

interface TalkPageOptions extends Pick<AppOptions, 'tools' | 'model'> {
  readonly home?: string
  readonly port?: number
  work?(request: ModelRequest): ScriptedStep
}

export async function openTalkPage(t: TestContext, options: TalkPageOptions = {}): Promise<TalkPage> {
  const stopping = new AbortController()
  const signals = { drain: stopping.signal, abort: stopping.signal }
  let draining: Promise<void> | undefined
  // Registered before the home, so that runs end before the app is closed.
  t.after(async () => {
    stopping.abort()
    await draining
  })
  const { home = freshFolder(t), port = 0, work = () => ({ text: 'worked' }), tools = [sendTool()] } = options
  writeTalkBehaviours(
    home,
    tools.map(({ name }) => name),
  )
  const model = scriptedModel((request) =>
    request.tools.some(({ name }) => name === 'route')
      ? routing({ new: 'Weekly figures', reply: `I start. ${PAYLOAD}` })
      : work(request),
  )
  const yaml = `server: { port: ${port} }\n`
  const served = await openHttpApp(t, { home, yaml, model, ...options, tools, signals })
  draining = served.app.context.drain({ untilIdle: false })
  const stop = async (): Promise<void> => {
    stopping.abort()
    await draining
    await served.app.close()
  }
  return { ...served, stop }
}
