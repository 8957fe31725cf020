/** Documents edited by the owner through commands: versions, conflicts, and copies that keep what would be lost. */

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { replaceBlock } from '../src/domain/runtime-block.ts'
import { tireless } from './support/command-line.ts'
import { BLOCK, openWithState } from './support/state-fixtures.ts'

const CYCLE = { author: 'system', reason: 'cycle', cycle_id: 'c1' }

describe('state edit', () => {
  test('E2: an edit is a version of the owner; what the system wrote meanwhile is no conflict and stays', async (t) => {
    const { app, documents, text } = await openWithState(t)
    await documents.seed('STATE.md', '# plan\n')
    const { version, own_text } = await app.run('state show', {})
    await app.service('queue').requireLead()
    await documents.write('STATE.md', (now) => replaceBlock(now, BLOCK), CYCLE)
    const edited = await app.run('state edit', { text: `${own_text}- ship it\n`, base: version, reason: 'Monday' })
    assert.deepEqual(
      { version: edited.version, author: edited.author, reason: edited.reason },
      { version: 3, author: 'owner', reason: 'Monday' },
    )
    assert.equal(text(), replaceBlock('# plan\n- ship it\n', BLOCK), 'the file follows')
    const shown = await app.run('state show', {})
    assert.deepEqual({ own: shown.own_text, runtime: shown.runtime }, { own: '# plan\n- ship it\n', runtime: BLOCK })
    const { items, total } = await app.run('state log', { own: true })
    assert.deepEqual({ versions: items.map((item) => item.version), total }, { versions: [3, 1], total: 2 })
    const { diff } = await app.run('state diff', { from: 1, to: 3, own: true })
    assert.match(diff, /^--- .*\n\+\+\+ .*\n@@ -1,1 \+1,2 @@\n # plan\n\+- ship it\n$/)
  })

  test('I7: an edit of an older text is refused and changes nothing; a new document starts at version 0', async (t) => {
    const { app, documents } = await openWithState(t)
    await documents.seed('STATE.md', '# plan\n')
    await documents.write('STATE.md', (now) => `${now}- by the agent\n`, { author: 'writer', reason: 'edit_state' })
    await assert.rejects(app.run('state edit', { text: '# mine\n', base: 1 }), { code: 'conflict', message: /changed/ })
    assert.equal((await app.run('state show', {})).text, '# plan\n- by the agent\n')
    await app.run('state edit', { text: '# mine\n', base: 2 })
    assert.equal((await app.run('state show', {})).own_text, '# mine\n')
    const goal = { text: 'Be kind.\n', document: 'GOAL.md', base: 0 } as const
    assert.equal((await app.run('state edit', goal)).version, 1)
    await assert.rejects(
      app.run('state edit', goal).then(() => app.run('state edit', { ...goal, text: 'x' })),
      {
        code: 'conflict',
      },
    )
    await assert.rejects(app.run('state edit', { text: 'long '.repeat(300_000), base: 3 }), {
      code: 'document_refused',
    })
  })

  test('I7: what a conflict or a revert saved beside the file is listed, compared and deleted', async (t) => {
    const { app, documents, file, home } = await openWithState(t, { yaml: 'sandbox: off\n' })
    await documents.seed('STATE.md', '# plan\n')
    fs.writeFileSync(file, '# by hand\n')
    const before = await app.run('documents list', {})
    assert.deepEqual(
      before.items.map(({ name, latest, pending }) => [name, latest?.version ?? null, pending]),
      [
        ['STATE.md', 1, true],
        ['INIT.md', null, false],
        ['SYSTEM_PROMPT.md', null, false],
        ['GOAL.md', null, false],
      ],
    )
    await app.run('state revert', {})
    const [state] = (await app.run('documents list', {})).items
    const [copy] = state?.copies ?? []
    assert.equal(copy?.kind, 'reverted')
    assert.ok(Math.abs(Date.parse(copy?.ts ?? '') - Date.now()) < 600_000, copy?.ts)
    const compared = await app.run('state diff', { copy: copy?.file ?? '' })
    assert.deepEqual({ text: compared.text, to: compared.to }, { text: '# by hand\n', to: copy?.file })
    await assert.rejects(app.run('state diff', { copy: '../../../tireless.yaml' }), { code: 'not_found' })
    await app.close()
    const listed = await tireless(home, 'documents', 'list')
    assert.match(listed.stdout, /STATE\.md +1 +system .* trusted +no +1\n[\s\S]*saved copy: STATE\.md\.reverted-/)
    const discarded = await tireless(home, 'state', 'discard', copy?.file ?? '')
    assert.equal(discarded.exit, 0, discarded.stderr)
    assert.equal(fs.existsSync(join(home, 'kernels/default', copy?.file ?? '')), false)
    assert.equal((await tireless(home, 'state', 'discard', 'tireless.yaml')).exit, 1)
  })
})
