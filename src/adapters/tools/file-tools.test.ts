/** The tools view_file, create_file and edit_file. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { describe, test } from 'node:test'
import { assertRefused, session } from '../../../test/support/tool-session.ts'
import { requireOps } from '../../ports/env.ts'

const sha = (text: string) => createHash('sha256').update(text).digest('hex')

describe('view_file', () => {
  test('shows the text or a range of lines, and records the version as seen', async (t) => {
    const s = await session(t)
    const text = 'one\ntwo\r\nthree\n\nlast'
    fs.writeFileSync(s.path('f'), text)
    const whole = await s.call('view_file', { path: './x/../f' })
    assert.deepEqual(whole, { status: 'ok', content: text, facts: { seen: { f: sha(text) } } })
    assert.equal((await s.call('view_file', { path: `${s.root}/f`, from: 2, to: 3 })).content, 'two\r\nthree\n')
    assert.equal((await s.call('view_file', { path: 'f', from: 4 })).content, '\nlast')
    assert.equal((await s.call('view_file', { path: 'f', to: 99 })).content, text)
    assertRefused(await s.call('view_file', { path: 'f', from: 6 }), /has 5 lines/)
    assertRefused(await s.call('view_file', { path: 'f', from: 3, to: 2 }), /no lines 3 to 2/)
    fs.writeFileSync(s.path('empty'), '')
    assert.equal((await s.call('view_file', { path: 'empty' })).content, '[the file is empty]')
  })

  test('Q9: cuts a large file at a line and says how to continue, until the end', async (t) => {
    const s = await session(t)
    const lines = Array.from({ length: 20_000 }, (_, n) => `${n + 1} 中文\n`)
    fs.writeFileSync(s.path('large'), lines.join(''))
    let text = ''
    for (let from: string | undefined = '1'; from !== undefined; ) {
      const { content } = await s.call('view_file', { path: 'large', from: Number(from) })
      assert.ok(Buffer.byteLength(content) < 66_000)
      from = /\[cut here, before line \d+ of 20000; to continue, view it with from: (\d+)\]$/.exec(content)?.[1]
      text += content.replace(/\[cut here.*$/, '')
    }
    assert.equal(text, lines.join(''))
    fs.writeFileSync(s.path('line'), `${'中'.repeat(100_000)}\nnext\n`)
    const { content } = await s.call('view_file', { path: 'line' })
    assert.match(
      content,
      /\n\[line 1 of 2 is too long and was cut after 21845 characters; to view the next lines, use from: 2\]$/,
    )
    assert.equal((await s.call('view_file', { path: 'line', from: 2 })).content, 'next\n')
  })

  test('Q9: shows no more than a result holds, so that no line is missing without a mark', async (t) => {
    const s = await session(t)
    fs.writeFileSync(s.path('f'), 'nine byte\n'.repeat(6000))
    const { content } = await s.call('view_file', { path: 'f' })
    assert.ok(content.length < 50_000)
    assert.match(content, /\[cut here, before line 4901 of 6000; to continue, view it with from: 4901\]$/)
  })

  test('suggests similar names if the file is missing', async (t) => {
    const s = await session(t)
    for (const path of ['src/Server.ts', 'src/client.ts', 'src/other.md', 'src/server/x'])
      await requireOps(s.env, 'file').write(path, '', null)
    assertRefused(
      await s.call('view_file', { path: 'src/sever.ts' }),
      /no file "src\/sever.ts"; similar names in src\/ are Server.ts, /,
    )
    assertRefused(await s.call('view_file', { path: 'scr/server.ts' }), /and no folder "scr"/)
    assertRefused(await s.call('view_file', { path: 'src' }), /folder/)
    fs.writeFileSync(s.path('src/b'), Buffer.from([0xff]))
    assertRefused(await s.call('view_file', { path: 'src/b' }), /binary/)
  })
})

describe('create_file', () => {
  test('E6: does not replace a file of which only a part was viewed; all parts together are enough', async (t) => {
    const s = await session(t)
    const old = Array.from({ length: 300 }, (_, n) => `line ${n + 1}\n`).join('')
    fs.writeFileSync(s.path('f'), old)
    const replace = () => s.call('create_file', { path: 'f', content: 'new' })
    await s.call('view_file', { path: 'f', from: 1, to: 20 })
    await s.call('view_file', { path: 'f', from: 200, to: 250 })
    assertRefused(
      await replace(),
      /of f you have viewed only lines 1-20, 200-250 of 300; view the rest first, or change/,
    )
    assert.equal(fs.readFileSync(s.path('f'), 'utf8'), old)
    await s.call('view_file', { path: 'f', from: 15, to: 199 })
    assertRefused(await replace(), /only lines 1-250 of 300/)
    await s.call('view_file', { path: 'f', from: 251 })
    assert.equal((await replace()).status, 'ok')
    assert.equal((await s.call('create_file', { path: 'f', content: 'again' })).status, 'ok')
  })

  test('E6: a part stays a part after an edit, and a line that is cut is not viewed', async (t) => {
    const s = await session(t)
    fs.writeFileSync(s.path('f'), 'one\ntwo\nthree\n')
    await s.call('view_file', { path: 'f', to: 1 })
    assert.equal((await s.call('edit_file', { path: 'f', old: 'one', new: '1' })).status, 'ok')
    assertRefused(
      await s.call('create_file', { path: 'f', content: 'new' }),
      /of f you have viewed only a part of its 3 lines/,
    )
    await s.call('view_file', { path: 'f' })
    assert.equal((await s.call('create_file', { path: 'f', content: 'new' })).status, 'ok')
    fs.writeFileSync(s.path('line'), 'x'.repeat(3_000_000))
    await s.call('view_file', { path: 'line' })
    assertRefused(await s.call('create_file', { path: 'line', content: 'x' }), /change the part with edit_file/)
  })

  test('case 38: creates a file; replaces one only in the version that the session has seen', async (t) => {
    const s = await session(t)
    const created = await s.call('create_file', { path: 'a/b/f', content: 'one' })
    assert.deepEqual(created, {
      status: 'ok',
      content: 'created a/b/f (3 bytes)',
      facts: { seen: { 'a/b/f': sha('one') } },
    })
    assert.equal((await s.call('create_file', { path: 'a/b/f', content: 'two' })).content, 'replaced a/b/f (3 bytes)')
    fs.writeFileSync(s.path('a/b/f'), 'theirs')
    assertRefused(
      await s.call('create_file', { path: 'a/b/f', content: 'three' }),
      /changed since you last viewed it; view it first/,
    )
    fs.writeFileSync(s.path('old'), 'old')
    assertRefused(
      await s.call('create_file', { path: 'old', content: 'new' }),
      /exists and you have not viewed it; view it first/,
    )
    assert.equal(fs.readFileSync(s.path('old'), 'utf8'), 'old')
    await s.call('view_file', { path: 'old' })
    fs.utimesSync(s.path('old'), 1, 1)
    assert.equal((await s.call('create_file', { path: 'old', content: 'new' })).status, 'ok')
    assert.equal(fs.readFileSync(s.path('old'), 'utf8'), 'new')
  })

  test('is idempotent: the same call succeeds again, also without a viewed file', async (t) => {
    const s = await session(t)
    await s.call('create_file', { path: 'f', content: 'x' })
    s.seen.clear()
    const again = await s.call('create_file', { path: 'f', content: 'x' })
    assert.deepEqual({ status: again.status, facts: again.facts }, { status: 'ok', facts: { seen: { f: sha('x') } } })
  })
})

describe('edit_file', () => {
  test('replaces the only occurrence literally', async (t) => {
    const s = await session(t)
    await s.call('create_file', { path: 'f', content: 'a\nb $& c\nd\n' })
    const result = await s.call('edit_file', { path: './f', old: 'b $& c', new: "$& $1 $' b" })
    const text = "a\n$& $1 $' b\nd\n"
    assert.deepEqual(result, { status: 'ok', content: 'edited f at line 2', facts: { seen: { f: sha(text) } } })
    assert.equal(fs.readFileSync(s.path('f'), 'utf8'), text)
    assert.equal((await s.call('edit_file', { path: 'f', old: '\nd\n', new: '' })).status, 'ok')
  })

  test('case 38: is refused if the file was not seen or has changed; a new date alone does not matter', async (t) => {
    const s = await session(t)
    fs.writeFileSync(s.path('f'), 'old')
    const edit = { path: 'f', old: 'old', new: 'new' }
    assertRefused(await s.call('edit_file', edit), /have not viewed f; view it first/)
    await s.call('view_file', { path: 'f' })
    fs.writeFileSync(s.path('f'), 'old!')
    assertRefused(await s.call('edit_file', edit), /changed since you last viewed it; view it again/)
    assert.equal(fs.readFileSync(s.path('f'), 'utf8'), 'old!')
    await s.call('view_file', { path: 'f' })
    fs.utimesSync(s.path('f'), 1, 1)
    assert.equal((await s.call('edit_file', edit)).status, 'ok')
    assertRefused(await s.call('edit_file', { ...edit, path: 'none' }), /no file "none"; create it with create_file/)
  })

  test('needs exactly one match: lists the lines of several matches, and hints at a near match', async (t) => {
    const s = await session(t)
    await s.call('create_file', { path: 'f', content: 'x\naaa\nx\n  if (a)   {\n' })
    assertRefused(
      await s.call('edit_file', { path: 'f', old: 'x', new: 'y' }),
      /occurs 2 times, at lines 1, 3; include more text/,
    )
    assertRefused(await s.call('edit_file', { path: 'f', old: 'aa', new: 'y' }), /occurs 2 times, at lines 2, 2/)
    assertRefused(
      await s.call('edit_file', { path: 'f', old: 'if (a) {', new: 'y' }),
      /only in white space starts at line 4$/,
    )
    assertRefused(await s.call('edit_file', { path: 'f', old: 'nope', new: 'y' }), /does not occur in f; view the file/)
    assertRefused(await s.call('edit_file', { path: 'f', old: 'aaa', new: 'aaa' }), /the same/)
    await s.call('create_file', { path: 'dos', content: 'a\r\nb\r\n' })
    assertRefused(
      await s.call('edit_file', { path: 'dos', old: 'a\nb', new: 'y' }),
      /line 1 \(the file ends its lines with/,
    )
  })

  test('after a crash its probe reports what happened and changes nothing', async (t) => {
    const s = await session(t)
    await s.call('create_file', { path: 'f', content: 'old' })
    const edit = { path: 'f', old: 'old', new: 'new' }
    const before = await s.before('edit_file', edit)
    assert.deepEqual(before, { path: 'f', line: 1, before: sha('old'), after: sha('new') })
    assert.equal(fs.readFileSync(s.path('f'), 'utf8'), 'old')
    assert.deepEqual(await s.probe('edit_file', edit, before), { kind: 'not' })
    const result = await s.call('edit_file', edit)
    assert.deepEqual(await s.probe('edit_file', edit, before), { kind: 'happened', result })
    fs.writeFileSync(s.path('f'), 'theirs')
    assert.deepEqual(await s.probe('edit_file', edit, before), { kind: 'unclear' })
    fs.rmSync(s.path('f'))
    assert.deepEqual(await s.probe('edit_file', edit, before), { kind: 'unclear' })
    assert.equal(await s.before('edit_file', edit), null)
    assert.deepEqual(await s.probe('edit_file', edit, null), { kind: 'not' })
  })
})
