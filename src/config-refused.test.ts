// biome-ignore-all lint/suspicious/noTemplateCurlyInString: "${NAME}" is what is tested here

/** Configuration files that are refused, and what their errors say. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { stringify } from 'yaml'
import { configOf, errorMessageOf, FULL, folder } from '../test/support/config-files.ts'
import { schemaLevels } from './config/explain-problems.ts'
import { loadConfig } from './config.ts'
import { TirelessError } from './domain/error.ts'
import type { Json } from './domain/json.ts'

/** A source of one type only, if the type of an entry chooses its keys. */
const fullFor = ({ type }: { readonly type?: string }): object =>
  type === undefined
    ? FULL
    : {
        ...FULL,
        sources: Object.fromEntries(Object.entries(FULL.sources).filter(([, source]) => source.type === type)),
      }

describe('refused files', () => {
  test('case 78: an unknown key names file, line, key path and the nearest valid key', () => {
    assert.equal(
      errorMessageOf('kernel:\n  id: x\n  max_concurent: 3\n'),
      'FILE:3:3: kernel.max_concurent is not a known key; do this: rename it to max_concurrent',
    )
    assert.match(errorMessageOf('kernal: {}\n'), /^FILE:1:1: kernal is not a known key; do this: rename it to kernel$/)
    assert.match(errorMessageOf('models: { providers: { p: { type: openai, base-url: x } } }'), /rename it to base_url/)
    assert.match(
      errorMessageOf('kernel: { agents: [{ agent_id: a, prompt: p, promt: q }] }'),
      /agents\[0\]\.promt .* to prompt$/,
    )
    assert.match(errorMessageOf('kernel: { schedule: { evry: 5s, at: "2026-01-31T09:00:00Z" } }'), /evry .* to every$/)
  })

  test('an unknown key gets the list of keys and the nearest one; a misplaced key gets its right place', () => {
    const far = errorMessageOf('qqqqqqqq: 1\n')
    assert.match(
      far,
      /expected one of kernel, residents, .*, retention; do this: remove it \(the nearest valid key is \w+\)$/,
    )
    assert.match(errorMessageOf('max_concurrent: 3\n'), /or move it under kernel/)
  })

  test('property: an unknown key in any mapping of the schema is refused and named', () => {
    const keys = fc.string({ unit: fc.constantFrom(...'abcxyz_-.QZ059'), minLength: 1, maxLength: 12 })
    for (const level of schemaLevels()) {
      const refused = fc.property(keys, fc.jsonValue({ maxDepth: 1 }), (key, value) => {
        fc.pre(!level.keys.includes(key))
        const message = errorMessageOf(stringify(insertKey(fullFor(level) as Json, level.path, key, value as Json)))
        assert.ok(message.includes(/^[\w-]+$/.test(key) ? key : JSON.stringify(key)), message)
        assert.match(message, /is not a known key/)
        assert.ok(
          level.keys.some((known) => new RegExp(`(rename it to|nearest valid key is) ${known}\\b`).test(message)),
        )
      })
      fc.assert(refused, { numRuns: 6 })
    }
  })

  const wrong: readonly [string, RegExp][] = [
    ['kernel: 5', /^FILE:1:1: kernel is not valid; got 5; expected a mapping of keys to values/],
    ['kernel:\n', /^FILE:1:1: kernel is not valid; got nothing; .*do this: fill it in, or remove the line$/],
    ['- a\n', /^FILE:1:1: the file is not valid; got a list; expected a mapping/],
    ['kernel: { agents: {} }', /kernel\.agents is not valid; got a mapping; expected a list/],
    ['kernel: { enabled: "yes" }', /kernel\.enabled is not valid; got "yes"; expected true or false/],
    [
      'kernel: { user_id: 12 }',
      /kernel\.user_id is not valid; got 12; expected text; do this: put the value in quotes/,
    ],
    ['kernel: { max_concurrent: 2.5 }', /got 2\.5; expected a whole number above 0/],
    ['kernel: { planner: { mode: hybird } }', /expected one of static, llm, hybrid; do this: write hybrid/],
    ['kernel: { missed: al }', /got "al"; expected skip, once, all or \{all: n\}; do this: write all/],
    ['kernel: { missed: { all: 0 } }', /kernel\.missed\.all is not valid; got 0; expected a whole number above 0/],
    ['kernel: { schedule: "* * *" }', /kernel\.schedule is not valid; got "\* \* \*"; expected a schedule/],
    ['kernel: { schedule: "@fortnightly" }', /expected a schedule: a cron line/],
    ['kernel: { schedule: {} }', /kernel\.schedule is not valid; got a mapping; expected exactly one of every, at/],
    [
      'kernel: { schedule: { at: tomorrow } }',
      /kernel\.schedule\.at is not valid; got "tomorrow"; expected an instant/,
    ],
    ['kernel: { timezone: Mars/Base }', /got "Mars\/Base"; expected a time zone such as Asia\/Shanghai/],
    ['kernel: { quiet_hours: "25:00-07:00" }', /expected hours such as "22:00-07:00"/],
    ['channels: { webhook: { url: "ftp://x", secret: s } }', /webhook\.url is not valid.*begins with http/],
    ['channels: { webhook: { url: "http://x" } }', /expected exactly one of secret, secret_env, secret_file/],
    ['channels: { webhook: { url: "http://x", secret: s, chat: c } }', /webhook\.chat is not a known key/],
    [
      'residents: [{ agent_id: r, hz: 20 }]',
      /residents\[0\]\.hz is not valid; got 20; expected a number from 0\.1 to 10/,
    ],
    ['residents: [{ hz: 1 }]', /residents\[0\]\.agent_id is missing; expected a name .*do this: add agent_id here/],
    ['kernel: { agents: [{ agent_id: a, prompt: " " }] }', /expected text that is not empty/],
    [
      'models: { providers: { p: {} } }',
      /models\.providers\.p\.type is missing; expected one of openai-compatible, openai/,
    ],
    ['models: { providers: { p: { type: openai-compatible } } }', /base_url is missing; expected an address such as/],
    [
      'models: { providers: { p: { type: openai, api_key: a, api_key_env: B } } }',
      /at most one of api_key, api_key_env/,
    ],
    [
      'models: { prices: { "a/*": { input: -1, output: 0 } } }',
      /models\.prices\["a\/\*"\]\.input is not valid; got -1/,
    ],
    ['mcp_servers: { m: {} }', /mcp_servers\.m is not valid; got a mapping; expected exactly one of command, url/],
    ['mcp_servers: { m: { command: [] } }', /expected a command with its arguments/],
    [
      'mcp_servers: { m: { command: [x], effects: { t: { recovery: twice, reach: none } } } }',
      /one of pure, idempotent/,
    ],
    ['server: { port: 70000 }', /got 70000; expected a port from 0/],
    ['policy: { allow_hosts: ["https://x.y/z"] }', /expected a host such as api\.example\.com/],
    ['policy: { unattended: allow }', /got "allow"; expected one of park, deny; do this: choose one of them/],
    ['sandbox: none', /expected one of auto, required, off/],
    ['sandbox_image: --privileged', /expected the name of an image, such as debian:12/],
  ]
  for (const [text, message] of wrong)
    test(`is refused with the remedy: ${text.trim()}`, () => {
      assert.match(errorMessageOf(text), message)
    })

  for (const id of ['..', '.hidden', '-rf', 'a/b', 'a b', '名', '', 'x'.repeat(65), 'a\nb'])
    test(`ids are safe characters only, not ${JSON.stringify(id)}`, () => {
      const safe = /expected a name of 1 to 64 safe characters \(A-Z a-z 0-9 \. _ -\)/
      const safeForAgents = /expected a name of 1 to 64 safe characters \(A-Z a-z 0-9 \. _ - and Chinese\)/
      assert.match(errorMessageOf(stringify({ kernel: { id } })), safe)
      if (id !== '名')
        assert.match(errorMessageOf(stringify({ kernel: { agents: [{ agent_id: id, prompt: 'p' }] } })), safeForAgents)
      assert.match(errorMessageOf(stringify({ models: { providers: { [id]: { type: 'openai' } } } })), safe)
    })

  test('agent ids are unique within their list', () => {
    const twice = 'kernel:\n  agents:\n    - { agent_id: a, prompt: p }\n    - { agent_id: A, prompt: p }\n'
    assert.match(
      errorMessageOf(twice),
      /^FILE:4:9: kernel\.agents\[1\]\.agent_id is not valid; got "A"; .*differs from entry 1 of/,
    )
    assert.match(
      errorMessageOf('residents: [{ agent_id: r }, { agent_id: r }]'),
      /residents\[1\]\.agent_id is not valid/,
    )
    configOf('kernel: { agents: [{ agent_id: a, prompt: p }] }\nresidents: [{ agent_id: a }]')
  })

  test('all problems are reported at once, in the order of the file', () => {
    const message = errorMessageOf(
      [
        'kernel:',
        '  id: a/b',
        '  max_concurent: 3',
        '  id: twice',
        '  agents:',
        '    - { agent_id: x, prompt: 5, colour: red }',
        '    - { agent_id: x, prompt: p }',
        'models:',
        '  providers:',
        '    "bad name": { type: openai-compatible, tiemout: 5 }',
        '  default: ${MISSING}',
        'budget: { per_day_usd: 0 }',
      ].join('\n'),
    )
    const [head, ...problems] = message.split('\n  ')
    assert.equal(head, 'FILE: 11 problems')
    const lines = problems.map((problem) => Number(/^FILE:(\d+):/.exec(problem)?.[1]))
    assert.deepEqual(lines, [2, 3, 4, 6, 6, 7, 10, 10, 10, 11, 12])
  })

  test('a file that is required and absent, a folder, a file that is not text', () => {
    const missing = join(folder, 'absent.yaml')
    assert.throws(
      () => loadConfig({ file: missing, required: true, env: {} }),
      (error: unknown) => {
        assert.ok(error instanceof TirelessError && error.code === 'config_invalid')
        assert.equal(
          error.message,
          `${missing}: the file does not exist; do this: check the path, or run "tireless init" to create it`,
        )
        return true
      },
    )
    assert.throws(() => loadConfig({ file: folder, env: {} }), /cannot be read \(EISDIR\)/)
    assert.match(errorMessageOf(new Uint8Array([0x61, 0x3a, 0x20, 0xc4, 0xe3])), /the file is not UTF-8 text/)
  })
})

describe('YAML', () => {
  test('a duplicate key is refused with both lines', () => {
    assert.equal(
      errorMessageOf('kernel:\n  id: a\n  id: b\n'),
      'FILE:3:3: kernel.id: the key appears twice, first on line 2; do this: keep one of the two',
    )
  })

  const broken: readonly [string, RegExp][] = [
    ['kernel:\n\tid: a\n', /^FILE:2:1: a tab is used as indentation; do this: indent with spaces$/],
    ['kernel: { id: a\nstore: sqlite\n', /^FILE:2:1: the indentation does not fit, or a bracket is not closed/],
    ['kernel:\n  id: "a\n', /^FILE:\d:\d+: a closing quote/],
    ['kernel:\n  id: @a\n', /^FILE:2:7: a value begins with a character that YAML reserves/],
    ['kernel:\n  id: a: b\n', /^FILE:2:7: a mapping begins in the middle of a line/],
    ['kernel:\n  seed_state: "\\q"\n', /^FILE:2:\d+: a backslash inside double quotes/],
    ['kernel:\n  id: !vault x\n', /^FILE:2:7: a value begins with ! and is read as a YAML tag/],
    ['store: sqlite\n---\nstore: sqlite\n', /^FILE:2:1: a second document begins/],
    ['? [a]\n: b\n', /^FILE:1:3: a key is not plain text/],
    ['kernel: *nowhere\n', /^FILE:1:\d+: kernel: an alias that is undefined/],
    ['channels: { slack: { x: .inf } }\n', /channels\.slack\.x: neither text, a number/],
  ]
  for (const [text, message] of broken)
    test(`refused with line and column: ${JSON.stringify(text)}`, () => {
      assert.match(errorMessageOf(text), message)
    })

  test('several syntax errors give several lines', () => {
    assert.match(
      errorMessageOf('kernel:\n\tid: a\nstore: @x\n'),
      /^FILE: 2 problems\n {2}FILE:2:1: a tab.*\n {2}FILE:3:8: a value/,
    )
  })

  test('__proto__ is refused as a key, also in free mappings', () => {
    assert.match(
      errorMessageOf('channels: { slack: { __proto__: { a: 1 } } }'),
      /channels\.slack\.__proto__: a reserved word/,
    )
    assert.match(errorMessageOf('__proto__: { kernel: { id: x } }'), /a reserved word as a key/)
  })
})

/** `data` with one more key in the first mapping at `path`. */
function insertKey(data: Json, path: readonly string[], key: string, value: Json): Json {
  const [step, ...rest] = path
  const mapping = typeof data === 'object' && data !== null ? (data as Record<string, Json>) : {}
  if (step === undefined) return { ...mapping, [key]: value }
  const name = step === '*' ? (Object.keys(mapping)[0] ?? assert.fail(path.join('.'))) : step
  const child = insertKey(mapping[name] ?? {}, rest, key, value)
  return Array.isArray(data) ? [child, ...data.slice(1)] : { ...mapping, [name]: child }
}
