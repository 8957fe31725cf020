/** The built-in tools on a real workspace. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { z } from 'zod'
import type { CallResult } from '../../domain/decision.ts'
import type { Json } from '../../domain/json.ts'
import { CLEAN_LABEL } from '../../domain/label.ts'
import { requireOps } from '../../ports/env.ts'
import type { AnyTool, ProbeResult, ToolContext } from '../../ports/tool.ts'
import { hostEnvs } from '../envs/host/host.ts'
import { systemClock } from '../system/clock.ts'
import { builtinTools } from './tools.ts'

const sha = (text: string) => createHash('sha256').update(text).digest('hex')

/** Calls tools like the engine: parses arguments and remembers the file versions that were seen. */
async function session(t: TestContext) {
  const base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'tireless-tools-')))
  t.after(() => fs.rmSync(base, { recursive: true, force: true }))
  const env = await hostEnvs({
    callsDir: join(base, 'calls'),
    clock: systemClock,
    env: { PATH: process.env.PATH },
  }).open(join(base, 'ws'))
  const seen = new Map<string, string>()
  const abort = new AbortController()
  const startedAt = Date.now()
  const contextOf = (name: string): ToolContext => ({
    env,
    ops(group) {
      assert.ok(tool(name).needs?.includes(group), `Q8: ${name} uses the group ${group} without declaring it`)
      return requireOps(env, group)
    },
    clock: systemClock,
    signal: abort.signal,
    call: 's/1/0',
    origin: { agent_id: 'default', session_id: 'session', turn: 1 },
    intendedAt: startedAt,
    cwd: '',
    say: () => {},
    seen,
    label: CLEAN_LABEL,
  })
  const parsed = (name: string, args: Json) => tool(name).args.parse(args)
  return {
    root: env.root,
    calls: join(base, 'calls'),
    env,
    seen,
    abort,
    path: (name: string) => join(env.root, name),
    async call(name: string, args: Json): Promise<CallResult> {
      const result = await tool(name).run(parsed(name, args), contextOf(name))
      const facts = result.facts as { seen?: Record<string, string> } | undefined
      for (const [path, digest] of Object.entries(facts?.seen ?? {})) seen.set(path, digest)
      return result
    },
    before: (name: string, args: Json): Promise<Json> =>
      defined(tool(name).before)(parsed(name, args), contextOf(name)),
    probe: (name: string, args: Json, before: Json): Promise<ProbeResult> =>
      defined(tool(name).probe)(parsed(name, args), before, contextOf(name)),
    remains: (name: string, args: Json): Promise<string> =>
      defined(tool(name).remains)(parsed(name, args), contextOf(name)),
    settled: (name: string): Promise<void> => defined(tool(name).settled)(contextOf(name)),
  }
}

function tool(name: string): AnyTool {
  return defined(builtinTools().find((one) => one.name === name))
}

function defined<T>(value: T | undefined): T {
  assert.ok(value !== undefined)
  return value
}

function assertRefused(result: CallResult, what: RegExp): void {
  assert.equal(result.status, 'error')
  assert.match(result.content, what)
  assert.equal(result.facts, undefined)
}

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
      'finish(answer, summary?)',
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
      from = /\[cut here at 64 kB, before line \d+ of 20000; to continue, view it with from: (\d+)\]$/.exec(
        content,
      )?.[1]
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
    assert.deepEqual([again.status, again.facts], ['ok', { seen: { f: sha('x') } }])
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
      [late.status, late.content],
      ['timed_out', '[timed out after 0.1 s; the whole process tree was killed]'],
    )
    assertRefused(await s.call('bash', { command: `: ${'x'.repeat(200_000)}` }), /too long/)
    s.abort.abort()
    const stopped = await s.call('bash', { command: 'touch ran' })
    assert.deepEqual(
      [stopped.status, stopped.content],
      ['interrupted', '[interrupted; the whole process tree was killed]'],
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
