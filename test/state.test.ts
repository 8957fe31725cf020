/** STATE.md: edits by agents with their tools, and by people with files and commands. */

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { stateTools } from '../src/adapters/tools/tools.ts'
import { type Document, MAX_DOCUMENT_BYTES } from '../src/domain/document.ts'
import { replaceBlock, textOutsideBlock } from '../src/domain/runtime-block.ts'
import type { Documents } from '../src/ports/documents.ts'
import type { Tool } from '../src/ports/tool.ts'
import { tireless } from './support/command-line.ts'
import { freshFolder } from './support/open-app.ts'
import { BLOCK, editCall, modelWithSteps, OWNER, openWithState, runAndGetResults } from './support/state-fixtures.ts'

test('with `sandbox: off` a pending edit is shown by every command, with the command to accept it', async (t) => {
  const home = freshFolder(t)
  const yaml = 'sandbox: off\nkernel: { channel: console, agents: [{ agent_id: a, prompt: look }] }\n'
  fs.writeFileSync(join(home, 'tireless.yaml'), yaml)
  await tireless(home, 'once')
  fs.appendFileSync(join(home, 'kernels/default/STATE.md'), 'by hand\n')
  const editNotice = /STATE\.md .*edit.* is not in use.*tireless state accept/
  // Each command is a new process that has not read the file before.
  for (const args of [['status', '--json'], ['status'], ['doctor']])
    assert.match((await tireless(home, ...args)).stdout.replaceAll('\n', ' '), editNotice, args.join(' '))
  assert.match((await tireless(home, 'state', 'show')).stdout, /edit is not in use.*tireless state accept/)
  const started = await tireless(home, 'start', '--until-idle')
  assert.match(`${started.stdout}${started.stderr}`.replaceAll('\n', ' '), editNotice, 'start')
  await tireless(home, 'once')
  assert.match((await tireless(home, 'notices', 'list', '--json')).stdout, editNotice, 'a notice')
  await tireless(home, 'state', 'accept')
  for (const args of [['status'], ['doctor']])
    assert.doesNotMatch((await tireless(home, ...args)).stdout, /is not in use/, args.join(' '))
})

describe('read_state, edit_state', () => {
  test('Q9: have the arguments and effects of the contract', () => {
    assert.deepEqual(
      stateTools({} as Documents, () => '').map(({ name, args, effect }) => {
        const { recovery, reach } = effect({} as never)
        return `${name}(${Object.keys(z.toJSONSchema(args, { io: 'input' }).properties ?? {})}) ${recovery} ${reach}`
      }),
      ['read_state() pure none', 'edit_state(old,new,section,text) reconcilable none'],
    )
  })

  test('E2: an agent reads the state without the runtime block, and edits passages and sections', async (t) => {
    const model = modelWithSteps(
      { calls: [{ tool: 'read_state' }] },
      editCall({ old: '(none)', new: 'ship it' }),
      editCall({ section: 'notes', text: '- b\n- c' }),
      editCall({ section: '## risks', text: 'none known' }),
      { calls: [{ tool: 'read_state' }] },
    )
    const { app, documents, text } = await openWithState(t, { model })
    await documents.seed('STATE.md', '# seed\n## plan\n(none)\n## notes\n- a\n')
    await documents.write('STATE.md', (now) => replaceBlock(now, BLOCK), OWNER)
    const [before, , , , after] = await runAndGetResults(app, model)
    assert.equal(before, '# seed\n## plan\n(none)\n## notes\n- a\n')
    assert.equal(after, '# seed\n## plan\nship it\n## notes\n- b\n- c\n## risks\nnone known\n')
    assert.equal(text(), replaceBlock(after ?? '', BLOCK))
    const [latest] = (await documents.versions('STATE.md', 1)) as Document[]
    assert.equal(latest?.author, 'default')
    assert.match(latest?.reason ?? '', /^edit_state \S+$/)
  })

  test('E2: an edit before the first cycle starts from the seed', async (t) => {
    const model = modelWithSteps(editCall({ old: '- a', new: '- b' }))
    const { app, text } = await openWithState(t, { model })
    assert.deepEqual(await runAndGetResults(app, model), ['edited STATE.md'])
    assert.equal(text(), '# seed\n## plan\n(none)\n## notes\n- b\n')
  })

  test('I7: an invalid edit is refused with the reason, and nothing is changed', async (t) => {
    const refused: [Record<string, string>, RegExp][] = [
      [{ old: '- cycle_id: c1', new: 'x' }, /does not occur in STATE\.md; read it with read_state/],
      [{ old: '#', new: 'x' }, /old occurs 5 times, at lines/],
      [{ old: '- a', new: '- a' }, /the same/],
      [{ old: '- a', new: BLOCK }, /contains a marker of the runtime's block/],
      [{ section: 'x', text: '<!-- KERNEL_RUNTIME:END -->' }, /contains a marker/],
      [{ old: '- a', new: 'a\0b' }, /cannot contain a NUL/],
      [{ section: 'a\nb', text: 'x' }, /one line/],
      [{ section: 'plan' }, /either old and new, or section and text/],
      [{ old: 'a', new: 'b', section: 'plan', text: 'x' }, /either old and new, or section and text/],
    ]
    const model = modelWithSteps(...refused.map(([args]) => editCall(args)))
    const { app, documents, text } = await openWithState(t, { model })
    await documents.seed('STATE.md', '# seed\n## plan\n(none)\n## notes\n- a\n')
    await documents.write('STATE.md', (now) => replaceBlock(now, BLOCK), OWNER)
    const before = text()
    const results = await runAndGetResults(app, model)
    for (const [i, [, why]] of refused.entries()) assert.match(results[i] ?? '', why)
    assert.equal(text(), before)
  })

  test('E2: a section ends at the next heading of its level or the block; headings in code do not count', async (t) => {
    const { documents } = await openWithState(t)
    const [, edit] = stateTools(documents, () => '') as unknown as Tool<Record<string, string>>[]
    const editSection = async (text: string, section: string): Promise<string> => {
      await documents.write('STATE.md', () => text, OWNER)
      const context = { call: 'c', origin: { agent_id: 'a', session_id: 's', turn: 1 } } as never
      const result = await edit?.run({ section, text: 'new' }, context)
      return result?.status === 'ok' ? ((await documents.read('STATE.md'))?.text ?? '') : (result?.content ?? '')
    }
    assert.equal(await editSection('# a\n## b\nold\n### c\nold\n\n## d\n', 'b'), '# a\n## b\nnew\n\n## d\n')
    assert.equal(await editSection('## a\n```\n## b\n```\n## b ##\nold', 'b'), '## a\n```\n## b\n```\n## b ##\nnew\n')
    assert.equal(await editSection(`## b\nold\n${BLOCK}\nbehind\n`, 'b'), `## b\nnew\n${BLOCK}\nbehind\n`)
    assert.equal(await editSection('## b', 'b'), '## b\nnew\n')
    assert.match(await editSection('## b\n## b\n', 'b'), /2 sections have the title "b"/)
    const full = `${'x'.repeat(MAX_DOCUMENT_BYTES - 5)}\n`
    assert.match(await editSection(full, 'b'), /STATE\.md: .*too long; got 1048581 bytes; expected at most 1048576/)
  })

  test('E2: after a crash the versions show whether the call took effect', async (t) => {
    const { documents } = await openWithState(t)
    const [, edit] = stateTools(documents, () => '# seed\n') as unknown as Tool<Record<string, string>>[]
    const contextOf = (call: string) => ({ call, origin: { agent_id: 'owner', session_id: 's', turn: 1 } }) as never
    const args = { section: 'plan', text: 'ship it' }
    assert.deepEqual(await edit?.probe?.(args, null, contextOf('s.1.0')), { kind: 'not' })
    const result = await edit?.run(args, contextOf('s.1.0'))
    await documents.write('STATE.md', (text) => `${text}more\n`, OWNER)
    assert.deepEqual(await edit?.probe?.(args, null, contextOf('s.1.0')), { kind: 'happened', result })
    assert.deepEqual(await edit?.probe?.(args, null, contextOf('s.1.1')), { kind: 'not' })
    assert.equal(
      (await documents.versions('STATE.md', 9)).find(({ reason }) => reason.includes('s.1.0'))?.author,
      'agent owner',
    )
  })
})

describe('state show, log, diff, revert, accept', () => {
  test('E2: show, log, diff and revert versions', async (t) => {
    const { home, app, documents, file } = await openWithState(t)
    await assert.rejects(app.run('state show', {}), {
      code: 'not_found',
      message: /STATE\.md does not exist yet.*tireless start/,
    })
    await documents.seed('STATE.md', '# seed\n')
    await app.service('queue').requireLead()
    await documents.write('STATE.md', (text) => replaceBlock(text, BLOCK), {
      author: 'system',
      reason: 'cycle',
      cycle_id: 'c1',
    })
    fs.appendFileSync(file, 'by the owner\n')
    const shown = await app.run('state show', {})
    assert.deepEqual(
      { version: shown.version, author: shown.author, pending: shown.pending },
      { version: 3, author: 'owner', pending: false },
    )
    assert.equal(textOutsideBlock(shown.text), '# seed\n\nby the owner\n')
    assert.equal((await app.run('state show', { version: '1' })).text, '# seed\n')
    await assert.rejects(app.run('state show', { version: 9 }), { code: 'not_found', message: /state log/ })
    const { items } = await app.run('state log', {})
    assert.deepEqual(
      items.map(({ version, author, cycle_id }) => ({ version, author, cycle_id })),
      [
        { version: 3, author: 'owner', cycle_id: null },
        { version: 2, author: 'system', cycle_id: 'c1' },
        { version: 1, author: 'system', cycle_id: null },
      ],
    )
    const { diff } = await app.run('state diff', { from: 1, to: 2 })
    assert.match(diff, /\+## kernel_runtime\n/)
    const reverted = await app.run('state revert', { version: 1 })
    assert.deepEqual(
      { version: reverted.version, reason: reverted.reason },
      { version: 4, reason: 'back to version 1' },
    )
    await app.close()
    assert.equal(textOutsideBlock((await tireless(home, 'state', 'show')).stdout), '# seed\n')
    assert.equal(textOutsideBlock(fs.readFileSync(file, 'utf8')), '# seed\n')
    const diffed = await tireless(home, 'state', 'diff')
    assert.match(diffed.stdout, /^--- STATE\.md \(version 3\)\n[\s\S]*\n-by the owner\n$/)
    const wrong = await tireless(home, 'state', 'show', 'x')
    assert.deepEqual(
      { exit: wrong.exit, namesTheVersion: /version/.test(wrong.stderr) },
      { exit: 2, namesTheVersion: true },
    )
  })

  test('E2: without a sandbox an edit needs `state accept`, also of the goal; `state revert` drops it', async (t) => {
    const { home, app, documents, file } = await openWithState(t, { yaml: 'sandbox: off\n' })
    await documents.seed('STATE.md', '# seed\n')
    fs.appendFileSync(file, 'by whom?\n')
    fs.writeFileSync(join(home, 'kernels/default/GOAL.md'), 'the goal\n')
    const shown = await app.run('state show', {})
    assert.deepEqual({ text: shown.text, pending: shown.pending }, { text: '# seed\n', pending: true })
    assert.match((await app.run('state diff', {})).diff, /\(the file\)\n.*\n # seed\n\+by whom\?\n$/)
    assert.equal(await documents.read('GOAL.md'), undefined)
    assert.match((await app.run('state diff', { document: 'GOAL.md' })).diff, /\(nothing\)\n.*\n.*\n\+the goal\n$/)
    const { degraded } = await app.run('status', {})
    assert.match(degraded.join('\n'), /STATE\.md was edited.*GOAL\.md was edited/)
    assert.deepEqual(await app.run('state accept', {}), {
      items: [
        { name: 'STATE.md', outcome: 'taken' },
        { name: 'GOAL.md', outcome: 'taken' },
      ],
    })
    assert.equal((await documents.read('STATE.md'))?.text, '# seed\nby whom?\n')
    assert.equal((await documents.read('GOAL.md'))?.text, 'the goal\n')
    fs.appendFileSync(file, 'again\n')
    await app.run('state revert', {})
    assert.equal(fs.readFileSync(file, 'utf8'), '# seed\nby whom?\n')
    assert.deepEqual(await app.run('state accept', {}), { items: [] })
  })
})
