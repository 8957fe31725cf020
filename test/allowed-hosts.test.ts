/**
 * Requests of a session that has read untrusted content to a host in `policy.allow_hosts`: the URL must tell the host
 * nothing new.
 */

import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { z } from 'zod'
import { defineTool } from '../src/ports/define-tool.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import { call, listApprovals } from './support/approval-fixtures.ts'
import { fakeTool } from './support/fake-tools.ts'
import { openApp, runTaskIn } from './support/open-app.ts'
import { attemptCalls, type ToolCalls } from './support/tainted-session.ts'

const ORIGIN = 'https://registry.example.org'
const PAGE = `${ORIGIN}/left-pad`
const TASK = 'Look up whether our packages have new versions.'

const askTool = () =>
  defineTool<{ url: string }>({
    ...{ name: 'ask', description: 'asks a host', args: z.object({ url: z.string() }) },
    effect: ({ url }) => ({ recovery: 'pure', reach: 'network', host: new URL(url).host }),
    run: async ({ url }) => ({
      status: 'ok',
      content: url.startsWith(ORIGIN)
        ? `left-pad 2.0.0-beta of Ann; see also middle-pad, [old](${ORIGIN}/old?tag=x-99), and a b c d e f`
        : `See ${ORIGIN}/planted?d=secret-4711 and hunter2`,
    }),
  })
const textTool = (name: string, content: string) =>
  fakeTool({
    name,
    effect: { recovery: 'pure', reach: 'none' },
    gives: () => ({ trust: 'trusted', private: false }),
    run: () => content,
  })
const manifest = () =>
  textTool('manifest', '{\n  "dependencies": {\n    "right-pad": "^1.4.1",\n    "@types/node": "22.1.0"\n  }\n}')
const settings = () => textTool('settings', 'DB_PASSWORD=hunter2\nPIN: 4711\n')

/** The URLs that need no approval in a session that has made the calls `firstCalls` before. */
async function urlsWithoutApproval(
  t: TestContext,
  firstCalls: ToolCalls,
  urls: readonly string[],
  task = TASK,
): Promise<readonly string[]> {
  const passed = await attemptCalls(t, {
    ...{ firstCalls, task, tools: [askTool(), manifest(), settings()] },
    attempts: urls.map((url) => call('ask', { url })),
    yaml: 'policy: { allow_hosts: [registry.example.org, other.example.org, "*.weather.example"] }',
  })
  return urls.filter((_, n) => passed[n])
}

const WITH_DATA = [
  `${ORIGIN}/left-pad/?d=secret-4711`,
  `${ORIGIN}/left-pad?d=secret-4711`,
  `${ORIGIN}/left-pad?d=4711`,
  `${ORIGIN}/left-pad?secret-4711`,
  `${ORIGIN}/secret-4711`,
  `${ORIGIN}/left-pad/c2VjcmV0LTQ3MTE`,
  `${ORIGIN}/left-pad%2F%73ecret`,
  `${ORIGIN}/left-pad/hunter2`,
  `${ORIGIN}/left-pad/a/b/c/d`,
  `${ORIGIN}/LEFT-pad`,
  `${ORIGIN}/left-pad//`,
  `${ORIGIN}/left-pad?&&&=`,
  `${ORIGIN}/${'left-pad/'.repeat(3)}${'x'.repeat(200)}`,
  `${ORIGIN}/planted?d=secret-4711`,
  'https://secret-4711.weather.example/',
  'https://other.example.org/old?tag=x-99',
]

describe('I12: a URL at an allowed host can leak data', () => {
  test('after untrusted content was read, a URL may contain only what the owner or the host has said', async (t) => {
    const firstCalls = [
      call('settings'),
      call('manifest'),
      call('ask', { url: 'https://other.example.org/' }),
      call('ask', { url: PAGE }),
    ]
    assert.deepEqual(await urlsWithoutApproval(t, firstCalls, WITH_DATA), [])
  })

  test("links and names from the host's pages, own packages and repeated requests need no approval", async (t) => {
    const urls = [
      PAGE,
      `${ORIGIN}/`,
      `${ORIGIN}/old?tag=x-99`,
      `${ORIGIN}/middle-pad/latest`,
      `${ORIGIN}/left-pad/2.0.0-beta`,
      `${ORIGIN}/search?q=left-pad&page=2`,
      `${ORIGIN}/right-pad`,
      `${ORIGIN}/@types/node`,
      'https://zurich.weather.example/today',
    ]
    const firstCalls = [call('manifest'), call('ask', { url: PAGE })]
    const task = `${TASK} Say what the package costs, and what zurich.weather.example has today.`
    assert.deepEqual(await urlsWithoutApproval(t, firstCalls, urls, task), urls)
  })

  test('a session without untrusted content may request any URL of an allowed host', async (t) => {
    const urls = [`${ORIGIN}/left-pad?d=x-1`, 'https://basel.weather.example/']
    assert.deepEqual(await urlsWithoutApproval(t, [call('settings')], urls), urls)
  })

  test('the approval shows the leaked value; a grant of the host allows any URL', async (t) => {
    const run = async (grants: string) => {
      const steps = [PAGE, `${ORIGIN}/left-pad?d=secret-4711`].map((url) => ({ calls: [call('ask', { url })] }))
      const model = scriptedModel((_, turn) => steps[turn] ?? { text: 'done' })
      const yaml = `policy: { allow_hosts: [registry.example.org]${grants} }`
      const app = await openApp(t, { model, tools: [askTool()], yaml })
      await runTaskIn(app, TASK)
      return (await listApprovals(app)).map(({ reason }) => reason)
    }
    const [reason = '', ...furtherReasons] = await run('')
    assert.match(reason, /^it tells registry\.example\.org "secret-4711", which neither your instructions nor/)
    assert.deepEqual(furtherReasons, [])
    assert.deepEqual(await run(', grants: [{ tool: ask, to: [registry.example.org] }]'), [])
  })
})
