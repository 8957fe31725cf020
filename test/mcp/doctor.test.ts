/** doctor names the servers that cannot be started, and starts none of them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ControlledServer, serversYaml } from '../support/mcp-homes.ts'
import { openApp } from '../support/open-app.ts'
import { WITHOUT_SANDBOX as skip } from '../support/sandbox-available.ts'

test('doctor names each server that cannot be started, with the reason, and starts none', { skip }, async (t) => {
  const controlled = new ControlledServer(t)
  const yaml = serversYaml({
    fine: { command: controlled.command, reads: [controlled.folder] },
    unsandboxed: { command: controlled.command, sandbox: 'off' },
    missing: { command: ['no-such-program-here'] },
    moved: { command: ['/nowhere/server'], sandbox: 'off' },
    folder: { command: controlled.command, folders: ['/nowhere/data'] },
    secret: { command: controlled.command, env: { KEY: 'secret:NONE' } },
  })
  const app = await openApp(t, { yaml })
  const { checks } = await app.run('doctor', {})
  const found = Object.fromEntries(
    checks
      .filter(({ name }) => name.startsWith('mcp server'))
      .map(({ name, ok, found: what }) => [name.split(' ')[2], ok || what]),
  )
  assert.deepEqual({ fine: found.fine, unsandboxed: found.unsandboxed }, { fine: true, unsandboxed: true })
  for (const [name, why] of [
    ['missing', /cannot be started: no-such-program-here cannot be started; got ENOENT: there is no such program/],
    ['moved', /nowhere.server cannot be started/],
    ['folder', /nowhere.data/],
    ['secret', /NONE/],
  ] as const)
    assert.match(String(found[name]), why)
  assert.deepEqual(controlled.logLines(), [])
})
