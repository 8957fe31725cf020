/** The git tool after a crash, and against a real remote. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { CLEAN_LABEL } from '../../src/domain/label.ts'
import { type OpsGroup, requireOps } from '../../src/ports/env.ts'
import type { ToolContext } from '../../src/ports/tool.ts'
import { answerAndDrain } from '../support/approval-fixtures.ts'
import { git, NEEDS_SANDBOX, repository } from '../support/git-tool.ts'
import { freshFolder, openApp } from '../support/open-app.ts'
import { allowHostsYaml, callStep, fakeDns, runAgent, runEachCallAlone } from '../support/serve-pages.ts'
import { inGit, serveRepository } from './git-remote.ts'

/** A call as recovery sees it: the state before, the call, and the answer of its probe afterwards. */
async function recovering(t: TestContext, workspace: string, ...args: string[]) {
  const app = await openApp(t)
  const tool = app.service('tools').all.get('git')
  assert.ok(tool?.before && tool.probe)
  const env = await app.service('envs').open(workspace)
  const context = {
    ...{
      env,
      call: 's.1.0',
      clock: systemClock,
      intendedAt: Date.now(),
      seen: new Map(),
      signal: new AbortController().signal,
      cwd: '',
      say: () => {},
    },
    ops: (group: OpsGroup) => requireOps(env, group),
    state: null,
    behaviour: 'solo',
    origin: { agent_id: 'default', session_id: 's', turn: 1 },
    label: CLEAN_LABEL,
  } as ToolContext
  const given = { args } as never
  const before = await tool.before(given, context)
  return {
    probe: async () => tool.probe?.(given, before, context),
    run: () => tool.run(given, context),
  }
}

describe('git after a crash', NEEDS_SANDBOX, () => {
  test('case 93: an interrupted commit is recognised by the last commit; nothing is committed twice', async (t) => {
    const workspace = repository(t)
    writeFileSync(join(workspace, 'b.txt'), 'two')
    inGit(workspace, 'add', '-A')
    const call = await recovering(t, workspace, 'commit', '-m', 'second')
    assert.deepEqual(await call.probe(), { kind: 'not' })
    assert.equal((await call.run()).status, 'ok')
    assert.deepEqual(await call.probe(), {
      kind: 'happened',
      result: { status: 'ok', content: `the commit was created: ${inGit(workspace, 'rev-parse', 'HEAD')}` },
    })
    inGit(workspace, 'commit', '-q', '--allow-empty', '-m', 'of another author')
    assert.deepEqual(await call.probe(), { kind: 'unclear' })
  })

  test('case 93: an interrupted add is recognised by the index; a stale lock blocks nothing', async (t) => {
    const workspace = repository(t)
    writeFileSync(join(workspace, 'b.txt'), 'two')
    const call = await recovering(t, workspace, 'add', '-A')
    writeFileSync(join(workspace, '.git/index.lock'), '')
    assert.deepEqual(await call.probe(), { kind: 'not' })
    assert.equal((await call.run()).status, 'ok')
    assert.equal((await call.probe())?.kind, 'happened')
  })
})

describe('git and the network', NEEDS_SANDBOX, () => {
  test('push, ls-remote, clone, fetch and pull reach the address they name, through the proxy', async (t) => {
    const { port, folder, asked } = await serveRepository(t)
    const workspace = repository(t)
    const url = `http://git.test:${port}/r.git`
    const home = freshFolder(t)
    const options = { home, resolve: fakeDns({ 'git.test': '127.0.0.1' }), yaml: allowHostsYaml(`git.test:${port}`) }
    const askingOptions = {
      ...options,
      yaml: `policy: { allow_hosts: ["git.test:${port}"], grants: [{ tool: git, to: ["**"] }] }`,
    }
    const pushing = await runAgent(t, [git('push', url, 'main')], askingOptions, { workspace })
    assert.deepEqual(
      { status: pushing.results[0]?.status, asked },
      { status: 'parked', asked: [] },
      'publishing asks for approval until a grant names it',
    )
    await answerAndDrain(pushing.app, 'allow', { grant: '7d' })
    await pushing.app.close()
    const again = await runAgent(t, [git('push', url, 'main'), git('push', '--force', url, 'main')], askingOptions, {
      workspace,
    })
    assert.deepEqual(
      again.results.map(({ status }) => status),
      ['ok', 'parked'],
      'the same push is granted, a force push is not',
    )
    await again.app.close()
    const calls = [git('ls-remote', url), git('fetch', url, 'main'), git('pull', '--ff-only', url, 'main')]
    const { app, results } = await runAgent(t, calls, options, { workspace })
    assert.deepEqual(
      results.map(({ status, content }) => (status === 'ok' ? status : content)),
      Array(3).fill('ok'),
    )
    assert.equal(inGit(folder, 'rev-parse', 'main'), inGit(workspace, 'rev-parse', 'main'))
    await app.close()
    const cloned = await runAgent(
      t,
      [git('clone', url, 'copy'), callStep('view_file', { path: 'copy/a.txt' })],
      options,
    )
    assert.equal(cloned.results[1]?.content, 'one\n')
    assert.ok(asked.length >= 8)
  })

  test('private addresses and other hosts are refused, also behind names and redirects', async (t) => {
    const { port, asked } = await serveRepository(t)
    const redirectServer = http.createServer((request, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${port}${request.url}` }).end(),
    )
    await new Promise<void>((resolve) => redirectServer.listen(0, '127.0.0.1', resolve))
    t.after(() => redirectServer.close())
    const redirectPort = (redirectServer.address() as AddressInfo).port
    const urls = [
      `http://127.0.0.1:${port}/r.git`,
      `http://localhost:${port}/r.git`,
      `http://evil.example:${port}/r.git`,
      `http://hop.test:${redirectPort}/r.git`,
      `http://2130706433:${port}/r.git`,
    ]
    const options = {
      resolve: fakeDns({ 'evil.example': '127.0.0.1', 'hop.test': '127.0.0.1' }),
      yaml: allowHostsYaml(`hop.test:${redirectPort}`),
    }
    const { results } = await runEachCallAlone(
      t,
      urls.map((url) => git('ls-remote', url)),
      options,
    )
    assert.deepEqual(
      results.map(({ status }) => status),
      Array(5).fill('error'),
    )
    assert.deepEqual(asked, [])
  })
})
