/** The checks of imports, owners and effects against samples that must fail, and the scanner that they use. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertOnly } from './assert-only.ts'
import { violations } from './check.ts'
import { readText } from './read-tree.ts'
import { readRules, unitOf } from './rules.ts'
import { codeOnly, importsOf, topLevelEffects } from './source.ts'
import { webViolations } from './web.ts'

const markdown = readText('ARCHITECTURE.md') ?? ''
const rules = readRules(markdown)

/** The violations in a tree of these files. */
function check(files: Record<string, string>): readonly string[] {
  return violations(new Map(Object.entries(files)), rules)
}

describe('the checker', () => {
  it('finds an import that the table does not allow', () => {
    const files = {
      'engine/x.ts': `// x\nimport { systemClock } from '../adapters/system/clock.ts'\n`,
      'adapters/system/clock.ts': '',
    }
    assertOnly(
      check(files),
      /^engine\/x\.ts:2 imports \.\.\/adapters\/system\/clock\.ts; engine may import domain, ports/,
    )
  })

  it('finds a type-only import, a re-export and an import() that the table does not allow', () => {
    for (const line of [
      `import type { A } from '../engine/a.ts'`,
      `export type { A } from "../engine/a.ts"`,
      `export * from '../engine/a.ts'`,
      `export type A = import('../engine/a.ts').A`,
      `export const load = () => import('../engine/a.ts')`,
      `import {\n  type A,\n  b,\n} from '../engine/a.ts'`,
    ]) {
      assertOnly(
        check({ 'ports/x.ts': line }),
        /^ports\/x\.ts:\d imports \.\.\/engine\/a\.ts; ports may import domain$/,
      )
    }
  })

  it('finds an adapter that imports another adapter', () => {
    assertOnly(
      check({ 'adapters/tools/x.ts': `import '../envs/y.ts'`.replace('import ', 'import a from ') }),
      /imports \.\.\/envs\/y\.ts/,
    )
    assert.deepEqual(check({ 'adapters/tools/x.ts': `import a from './y.ts'` }), [])
  })

  it('finds a package imported by domain, which may import nothing', () => {
    assertOnly(check({ 'domain/x.ts': `import { join } from 'node:path'` }), /domain may import nothing/)
  })

  it('finds a folder without a row, an import of a test, an import from outside src', () => {
    assertOnly(check({ 'attic/x.ts': '' }), /"attic" has no row/)
    assertOnly(check({ 'ports/x.ts': `import { a } from './y.test.ts'` }), /which is a test/)
    assertOnly(check({ 'ports/x.ts': `import { a } from '../../scripts/demo.ts'` }), /which is outside src/)
  })

  it('finds a cycle of value imports, but allows one of types', () => {
    const circle = (keyword: string): Record<string, string> => ({
      'domain/a.ts': `import { b } from './b.ts'\nexport const a = () => b`,
      'domain/b.ts': `import { c } from './c.ts'\nexport const b = () => c`,
      'domain/c.ts': `${keyword} { a } from './a.ts'\nexport const c = 1`,
    })
    assertOnly(check(circle('import')), /^import cycle: domain\/a\.ts → domain\/b\.ts → domain\/c\.ts → domain\/a\.ts$/)
    assertOnly(check(circle('export')), /^import cycle/)
    assert.deepEqual(check(circle('import type')), [])
  })

  it('finds time, chance, environment and console outside their owners', () => {
    const owned: Record<string, string> = {
      'Date.now()': 'the wall clock',
      'new Date()': 'the wall clock',
      'globalThis.performance.now()': 'the wall clock',
      'setTimeout(() => {}, 1)': 'timers',
      'AbortSignal.timeout(1)': 'timers',
      'Math.random()': 'chance',
      'crypto.randomUUID()': 'chance',
      'process.env.HOME': 'the environment',
      "console.log('x')": 'the console',
      'process.stdout': 'the console',
      'process.exit(1)': 'exit and signals',
      '`now: ${Date.now()}`': 'the wall clock',
    }
    for (const [code, what] of Object.entries(owned)) {
      const found = check({ 'ports/x.ts': `export const f = () => ${code}` })
      assertOnly(found, new RegExp(`^ports/x\\.ts:1 uses .*; ${what} belongs to `))
    }
    assertOnly(
      check({ 'ports/x.ts': `import { DatabaseSync } from 'node:sqlite'` }),
      /SQL belongs to adapters\/stores\//,
    )
    assertOnly(
      check({ 'ports/x.ts': `import { a } from '@ai-sdk/provider'` }),
      /model providers belongs to adapters\/models\//,
    )
    assertOnly(
      check({ 'adapters/models/x.ts': `import { offlineModel } from './offline/offline.ts'` }),
      /the rules of the offline model belongs to adapters\/models\/model-registry\.ts/,
    )
    assertOnly(
      check({ 'adapters/tools/x.ts': `import { execFile } from 'node:child_process'` }),
      /other programs belongs to/,
    )
    assertOnly(check({ 'ports/x.ts': `import { scheduler } from 'node:timers/promises'` }), /timers belongs to/)
  })

  it('finds files that are written, renamed or truncated outside the owners', () => {
    const wholly = ['writeSync(1, text)', 'writeFileSync(file, text)', 'writeFile(file, text)', 'appendFileSync(a, b)']
    const methods = ['handle.writeFile(text)', 'open(file).appendFile(text)', 'handle?.createWriteStream()']
    for (const call of [...wholly, ...methods])
      assertOnly(
        check({ 'app/x.ts': `export const f = () => ${call}` }),
        /^app\/x\.ts:1 uses .*; files written whole or not at all belongs to files\//,
      )
    for (const call of ['renameSync(a, b)', 'rename(a, b)', 'cpSync(a, b)', 'copyFileSync(a, b)', 'ftruncateSync(1)'])
      assertOnly(
        check({ 'app/x.ts': `export const f = () => ${call}` }),
        /^app\/x\.ts:1 uses .*; files renamed, copied or truncated belongs to files\//,
      )
    assert.deepEqual(
      check({ 'files/x.ts': 'export const f = () => renameSync(writeSync(1, text), handle.writeFile)' }),
      [],
    )
  })

  it('allows them in their owners, in comments, strings and tests, and as members of an object', () => {
    assert.deepEqual(
      check({
        'adapters/system/clock.ts': 'export const now = () => Date.now()',
        'cli/show.ts': `export const show = () => console.log(process.stdout.columns)`,
        'ports/x.ts': `/* Date.now */ export const a = 'console.log' // process.env\nexport const b = /Math.random/\n`,
        'ports/y.ts':
          'export const c = (clock: { setTimeout(): void }, at: number) => [clock.setTimeout(), new Date(at)]',
        'ports/x.test.ts': 'setTimeout(() => console.log(Date.now(), process.env), 1)',
      }),
      [],
    )
  })

  it('finds statements that run when a file is loaded', () => {
    for (const effect of [
      'start()',
      'new Worker()',
      'if (x) start()',
      'for (const a of b) start()',
      'let count = 0',
      `import './y.ts'`,
    ]) {
      assertOnly(check({ 'ports/x.ts': `export const a = 1\n${effect}\n` }), /^ports\/x\.ts:2 /)
      assert.deepEqual(check({ 'cli/main.ts': `${effect}\n`, 'testing/x-main.ts': `${effect}\n` }), [])
    }
    assertOnly(check({ 'ports/x.ts': 'export const a = await start()' }), /runs code when the file is loaded/)
  })

  it('allows declarations of every kind', () => {
    const source = `
import { b } from './b.ts'
export interface A<T> {
  readonly a: T
}
type Many = readonly A<string>[]
const table = {
  start() {
    b()
  },
} as const satisfies Record<string, unknown>
export const text = \`
start() \${table.start(\`inner \${'}'}\`)} {
\`
export const pattern = /[/'"\`(]\\/start()/g
export function f(many: Many): number {
  return many.length / 2 / 3
}
async function g(): Promise<void> {
  await f([])
}
export class C extends Error {}
export { g }
`
    assert.deepEqual(check({ 'ports/x.ts': source, 'ports/b.ts': 'export const b = () => 1' }), [])
  })

  it('finds a file of engine without a header comment', () => {
    assertOnly(check({ 'engine/x.ts': 'export const a = 1' }), /does not open with a comment/)
    assert.deepEqual(check({ 'engine/x.ts': '/** Job. */\nexport const a = 1' }), [])
  })

  it('finds a module mock, also in a test', () => {
    assertOnly(check({ 'engine/x.test.ts': `\nmock.module('./a.ts', {})` }), /^engine\/x\.test\.ts:2 mocks a module/)
  })

  it('finds a file that does not parse', () => {
    assertOnly(check({ 'ports/x.ts': 'export const = 1' }), /is not erasable TypeScript/)
    assertOnly(check({ 'ports/x.ts': 'export enum A { a }' }), /is not erasable TypeScript/)
  })

  it('finds page code that imports more than types of domain, or a package the browser does not get', () => {
    const checkPage = (line: string): readonly string[] => webViolations(new Map([['web/src/now/x.tsx', line]]), rules)
    for (const fine of [
      `import { render } from 'preact'`,
      `import {\n  useState,\n} from 'preact/hooks'`,
      `import type { Event } from '../../../src/domain/event.ts'`,
      `import { a } from '../a.ts'\nimport '../style.css'`,
    ])
      assert.deepEqual(checkPage(fine), [], fine)
    assertOnly(checkPage(`import { eventFold } from '../../../src/domain/event.ts'`), /not as types only/)
    assertOnly(checkPage(`import type { Store } from '../../../src/ports/store.ts'`), /web may import domain/)
    assertOnly(checkPage(`import {\n  a,\n} from '../../../test/apps.ts'`), /web may import domain/)
    assertOnly(checkPage(`import { z } from 'zod'`), /not sent to browsers/)
    assertOnly(checkPage(`const a = () => import('node:fs')`), /not sent to browsers/)
  })

  it('finds a name in the table that has no row', () => {
    const typo = readRules(markdown.replace(/(?<=\| files, ports, prompts.* \| )domain \|/, 'domian |'))
    assert.match(violations(new Map(), typo).join(), /"domian", which has no row/)
  })
})

describe('the source scanner', () => {
  it('keeps every position of the source', () => {
    const source = `const a = 'it''s' // b\nconst c = \`x\n\${d}y\`\n`
    const code = codeOnly(source)
    assert.equal(code.length, source.length)
    assert.deepEqual(
      [...code].flatMap((char, i) => (char === '\n' ? [i] : [])),
      [...source].flatMap((char, i) => (char === '\n' ? [i] : [])),
    )
    assert.equal(code.indexOf('d'), source.indexOf('${d') + 2)
  })

  it('tells a division from a regular expression', () => {
    assert.match(codeOnly(`const a = b / c; const d = 'x' / e`), /b {1}\/ c; const d = ' ' \/ e/)
    assert.doesNotMatch(codeOnly(`return /'console/.test(x)`), /console/)
  })

  it('reads imports with their lines, and ignores strings and comments', () => {
    const source = [
      "// import { a } from './a.ts'",
      "import { b } from './b.ts'",
      `const c = "import d from './d.ts'"`,
      "import './e.ts'",
    ].join('\n')
    assert.deepEqual(importsOf(source), [
      { specifier: './b.ts', line: 2, form: 'static' },
      { specifier: './e.ts', line: 4, form: 'bare' },
    ])
  })

  it('finds effects only at the top level', () => {
    assert.deepEqual(topLevelEffects('const a = () => {\n  b()\n}\na()\n'), [4])
  })

  it('names the folder of the table that a file belongs to', () => {
    assert.deepEqual(
      ['engine/step.ts', 'app.ts', 'adapters/system/clock.ts', 'adapters/stores/sqlite/home-lock.ts'].map(unitOf),
      ['engine', 'app', 'adapters/system', 'adapters/stores'],
    )
  })
})
