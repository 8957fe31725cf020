/** What a behaviour can do to the workspace, through a whole run in the sandbox. */

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { WorkspaceAccess } from '../../src/ports/env.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { freshFolder, journalOf, openApp, replayIn, runTaskIn } from '../support/open-app.ts'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'

const WRITES = [
  { tool: 'bash', args: { command: 'echo by bash > by-bash; ls' } },
  { tool: 'create_file', args: { path: 'by-tool', content: 'x' } },
]

/** Which files are in the workspace after the run, and the results of the calls. */
const LEFT: Readonly<Record<WorkspaceAccess, { readonly files: readonly string[]; readonly results: RegExp }>> = {
  write: { files: ['by-bash', 'by-tool'], results: /^ok by-bash.*ok created by-tool/s },
  copy: { files: [], results: /^ok by-bash.*ok created by-tool/s },
  read_only: { files: [], results: /^error .*Read-only file system.*by-tool|^ok .*Read-only file system/s },
}

describe('case 84: the access of a behaviour', { skip: WITHOUT_SANDBOX }, () => {
  for (const access of ['write', 'copy', 'read_only'] as const)
    test(`case 84: with ${access}, commands and tools leave ${LEFT[access].files.length} files`, async (t) => {
      const home = freshFolder(t)
      const model = scriptedModel([{ calls: WRITES }, { text: 'ended' }])
      const behaviour = {
        ...{ name: 'tried', access, tools: ['bash', 'create_file'], buildSystemPrompt: () => 'Try.' },
        initState: () => null,
      }
      const app = await openApp(t, { home, model, behaviours: [behaviour] })
      const { dispatch_id, session_id } = await runTaskIn(app, 'try', { behaviour: 'tried' })
      const { workspace } = await app.run('sessions show', { id: session_id })
      assert.deepEqual(readdirSync(workspace).sort(), LEFT[access].files)
      const results = (await journalOf(app, session_id)).flatMap((record) =>
        record.kind === 'call_settled' ? [`${record.result.status} ${record.result.content}`] : [],
      )
      assert.match(results.join('\n'), LEFT[access].results)
      assert.deepEqual(access === 'copy' ? readdirSync(join(home, 'copies')) : [], [])
      assert.ok((await replayIn(app, dispatch_id)).identical)
    })
})
