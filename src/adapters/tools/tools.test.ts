/** The built-in tools: declarations, listings and commands. */

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { assertRefused, session, tool } from '../../../test/support/tool-session.ts'
import type { Json } from '../../domain/json.ts'
import { requireOps } from '../../ports/env.ts'
import { builtinTools } from './tools.ts'

describe('the built-in tools', () => {
  test('have the names and arguments of the contract; each argument is described, unknown ones are refused', () => {
    const shapes = builtinTools().map((one) => {
      const schema = z.toJSONSchema(one.args, { io: 'input' })
      const properties = Object.entries(schema.properties ?? {})
      for (const [name] of properties) assert.ok(one.argumentDescriptions?.[name], `${one.name}.${name}`)
      assert.equal(schema.additionalProperties, false)
      assert.ok(one.description.length > 20)
      const names = properties.map(([name]) => (schema.required?.includes(name) ? name : `${name}?`))
      return `${one.name}(${names.join(', ')})`
    })
    assert.deepEqual(shapes, [
      'view_file(path, from?, to?)',
      'create_file(path, content)',
      'edit_file(path, old, new)',
      'list_files(path?, depth?)',
      'search_files(pattern, path?)',
      'bash(command, timeout_s?)',
      'wait(for, until?)',
      'finish(answer, summary?, next?)',
    ])
  })

  test('declare the effects that recovery and policy use', () => {
    const effects = Object.fromEntries(
      builtinTools().map((one) => [one.name, Object.values(one.effect({} as never)).join(' ')]),
    )
    assert.deepEqual(effects, {
      view_file: 'pure none',
      create_file: 'idempotent workspace',
      edit_file: 'reconcilable workspace',
      list_files: 'pure none',
      search_files: 'pure none',
      bash: 'once workspace',
      wait: 'pure none',
      finish: 'pure none',
    })
  })

  test('case 34: arguments of the wrong shape do not parse', () => {
    const wrong: [string, Json][] = [
      ['view_file', {}],
      ['view_file', { path: 'a', from: 0 }],
      ['view_file', { path: 'a', lines: 3 }],
      ['create_file', { path: 'a' }],
      ['edit_file', { path: 'a', old: '', new: 'b' }],
      ['list_files', { depth: 0 }],
      ['bash', { command: '' }],
      ['bash', { command: 'true', timeout_s: 1801 }],
      ['bash', { command: 'true', timeout_s: -1 }],
      ['wait', { for: '' }],
      ['finish', { answer: 3 }],
    ]
    for (const [name, args] of wrong)
      assert.equal(tool(name).args.safeParse(args).success, false, JSON.stringify([name, args]))
    assert.deepEqual(tool('bash').args.parse({ command: 'x' }), { command: 'x', timeout_s: 120 })
    assert.deepEqual(tool('list_files').args.parse({}), { path: '.', depth: 2 })
  })

  test('wait and finish throw when they are run: the engine handles them as decisions', async (t) => {
    const s = await session(t)
    await assert.rejects(s.call('wait', { for: 'user_message' }), /decision/)
    await assert.rejects(s.call('finish', { answer: 'x' }), /decision/)
  })

  test('Q8: each tool declares the groups of operations that it uses', () => {
    const needs = builtinTools().map((one) => `${one.name}: ${(one.needs ?? []).join(' ')}`)
    assert.deepEqual(needs, [
      'view_file: file',
      'create_file: file',
      'edit_file: file',
      'list_files: file',
      'search_files: file',
      'bash: process file',
      'wait: ',
      'finish: ',
    ])
  })

  test('case 37: every file tool refuses a path outside the workspace with an error result', async (t) => {
    const s = await session(t)
    fs.symlinkSync('/etc', s.path('link'))
    for (const path of ['../x', '/etc/passwd', 'file:///etc/passwd', 'a\0', 'link/passwd', `${s.root}-evil/x`]) {
      assertRefused(await s.call('view_file', { path }), /./)
      assertRefused(await s.call('create_file', { path, content: 'x' }), /./)
      assertRefused(await s.call('edit_file', { path, old: 'a', new: 'b' }), /./)
      assertRefused(await s.call('list_files', { path }), /./)
      assertRefused(await s.call('search_files', { pattern: 'root', path }), /./)
      assert.equal(await s.before('edit_file', { path, old: 'a', new: 'b' }), null)
    }
  })
})

describe('list_files', () => {
  test('lists names and sizes, two levels deep by default', async (t) => {
    const s = await session(t)
    assert.equal((await s.call('list_files', {})).content, '[the folder is empty]')
    for (const path of ['a/b/c/d', 'a/x', 'z']) await requireOps(s.env, 'file').write(path, '123', null)
    fs.writeFileSync(s.path('a/line\nbreak'), '')
    assert.equal(
      (await s.call('list_files', {})).content,
      'a/\na/b/\na/line\\x0abreak  0 bytes\na/x  3 bytes\nz  3 bytes\n',
    )
    assert.equal((await s.call('list_files', { path: 'a/b', depth: 1 })).content, 'a/b/c/\n')
    assertRefused(await s.call('list_files', { path: 'none' }), /no such folder/)
  })

  test('Q9: is limited, and says that there are more entries', async (t) => {
    const s = await session(t)
    for (let n = 0; n < 501; n += 1) fs.writeFileSync(s.path(`${'n'.repeat(200)}-${n}`), '')
    const { content } = await s.call('list_files', {})
    assert.match(content, /\n\[there are more entries; .*\]$/)
    assert.ok(content.length < 66_000)
  })
})

describe('bash', () => {
  test('returns output and exit code, and says how the command ended', async (t) => {
    const s = await session(t)
    assert.deepEqual(await s.call('bash', { command: 'echo hi' }), {
      status: 'ok',
      content: 'hi\n[exit 0]',
      facts: { exit: 0, cwd: '' },
    })
    assert.deepEqual(await s.call('bash', { command: 'printf hi; exit 3' }), {
      status: 'error',
      content: 'hi\n[exit 3]',
      facts: { exit: 3, cwd: '' },
    })
    assert.equal((await s.call('bash', { command: 'kill -9 $$' })).content, '[killed by SIGKILL]')
    const late = await s.call('bash', { command: 'sleep 1000', timeout_s: 0.1 })
    assert.deepEqual(
      { status: late.status, content: late.content },
      { status: 'timed_out', content: '[timed out after 0.1 s; the whole process tree was killed]' },
    )
    assertRefused(await s.call('bash', { command: `: ${'x'.repeat(200_000)}` }), /too long/)
    s.abort.abort()
    const stopped = await s.call('bash', { command: 'touch ran' })
    assert.deepEqual(
      { status: stopped.status, content: stopped.content },
      { status: 'interrupted', content: '[interrupted; the whole process tree was killed]' },
    )
    assert.equal(fs.existsSync(s.path('ran')), false)
  })

  test('O13: describes an interrupted call, and deletes its files once it is settled', async (t) => {
    const s = await session(t)
    await s.call('bash', { command: 'echo so far; echo x > made' })
    const remains = await s.remains('bash', { command: 'true' })
    assert.match(
      remains,
      /^The command was no longer running\.\nIts output so far:\nso far\n\nPaths changed .*:\n\.\/\nmade$/,
    )
    assert.equal(fs.readdirSync(s.calls).length, 1)
    await s.settled('bash')
    assert.deepEqual(fs.readdirSync(s.calls), [])
    assert.match(
      await s.remains('bash', { command: 'true' }),
      /^The command was no longer running\.\nIt had written no output\./,
    )
  })
})
