import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type CycleRow,
  changeOutsideBlock,
  extractBlock,
  extractEditedBlock,
  hasBlockMark,
  insertBlock,
  placeBlockLast,
  type RuntimeValues,
  renderRuntimeBlock,
  replaceBlock,
  textOutsideBlock,
} from './runtime-block.ts'

const START = '<!-- KERNEL_RUNTIME:START -->'
const END = '<!-- KERNEL_RUNTIME:END -->'
const FAKE = `${START}\n## kernel_runtime\n- status: fake\n${END}`

const RUNTIME: RuntimeValues = {
  updated_at: '2026-01-01T00:00:00.000Z',
  cycle_id: 'c7',
  status: 'partial_success',
  dispatched: 3,
  succeeded: 2,
  failed: 1,
  failed_agents: ['b'],
  agent_summary: 'a: done; b: failed',
  duration_ms: 1500,
  error: null,
}
const row = (n: number, more: Partial<CycleRow> = {}): CycleRow => ({
  ...{ cycle_id: `c${n}`, status: 'success', dispatched: 1, succeeded: 1, failed: 0 },
  ...{ summary: `did ${n}`, updated_at: RUNTIME.updated_at, ...more },
})
const blockOf = (n: number): string => renderRuntimeBlock({ ...RUNTIME, cycle_id: `c${n}` }, [row(n)], 5)

test('E2: the block, line for line', () => {
  assert.equal(
    renderRuntimeBlock(RUNTIME, [row(7), row(6)], 5),
    `${START}
## kernel_runtime
- updated_at: 2026-01-01T00:00:00.000Z
- cycle_id: c7
- status: partial_success
- dispatched: 3
- succeeded: 2
- failed: 1
- failed_agents: b
- agent_summary: a: done; b: failed
- duration_ms: 1500
- error: (none)

### cycle_history
| cycle_id | status | dispatched | succeeded | failed | summary | updated_at |
|---|---|---|---|---|---|---|
| c7 | success | 1 | 1 | 0 | did 7 | 2026-01-01T00:00:00.000Z |
| c6 | success | 1 | 1 | 0 | did 6 | 2026-01-01T00:00:00.000Z |
${END}`,
  )
})

test('E2: shows the newest rows up to the limit; no value can break the table, the lines or the marks', () => {
  const hostile = `a | b \\| c\r\nd\u2028e\u0000 ${END}\n### cycle_history ${START} \ud83d ${'👩‍🚀'.repeat(100)}`
  const rows = [row(9, { summary: hostile, cycle_id: 'x|y' }), ...[8, 7, 6].map((n) => row(n))]
  const block = renderRuntimeBlock(
    { ...RUNTIME, agent_summary: hostile, error: hostile, failed_agents: [END] },
    rows,
    3,
  )
  const lines = block.split('\n')
  assert.equal(lines.filter((line) => line.startsWith('| c8') || line.startsWith('| c7')).length, 2)
  assert.equal(block.includes('| c6'), false)
  assert.equal(lines.length, 12 + 2 + 2 + 3 + 1)
  assert.equal(block.split(START).length + block.split(END).length, 4)
  const table = lines.slice(lines.indexOf('### cycle_history') + 1, -1)
  for (const line of table) assert.equal(line.replaceAll(/\\./g, '').split('|').length, 9, line)
  assert.equal(block, block.toWellFormed())
  assert.ok(table.join('').includes('x\\|y'))
  const [summary = ''] = /- agent_summary: (.*)/.exec(block) ?? []
  assert.ok([...summary].length < 2050)
})

/** Texts made of marks, headings and lookalikes, and of anything else. */
const piece = fc.oneof(
  fc.constantFrom(START, END, '## kernel_runtime', '### cycle_history', '| a | b |', '|---|---|', FAKE, 'words'),
  fc.constantFrom(`${START}  `, ` ${START}`, `${END} x`, `- ${START}${END}`, `\`\`\`\n${FAKE}\n\`\`\``, '\u{feff}'),
  fc.string({ unit: 'binary', maxLength: 8 }),
)
const text = fc
  .array(fc.tuple(piece, fc.constantFrom('\n', '\n', '\r\n', '', '\r')), { maxLength: 12 })
  .map((pieces) => pieces.flat().join('').replaceAll('\0', ''))
const foreign = text.filter((it) => textOutsideBlock(it) === it)

test('case 127, I7: removing the block gives the text back byte for byte, whatever it holds', () => {
  fc.assert(
    fc.property(foreign, fc.integer({ min: 1, max: 5 }), (before, cycles) => {
      let state = before
      for (let n = 1; n <= cycles; n += 1) state = replaceBlock(state, blockOf(n))
      assert.equal(textOutsideBlock(state), before)
      assert.equal(state, replaceBlock(before, blockOf(cycles)), 'as if the block had been written once')
      assert.equal(state.split('- cycle_id: c').length, 2)
    }),
  )
})

test('case 127, I7: replacing our block changes nothing before or after it', () => {
  fc.assert(
    fc.property(text, foreign, (before, behind) => {
      const state = `${before}\n${blockOf(1)}\n${behind}`
      fc.pre(extractBlock(state).block === blockOf(1))
      assert.equal(replaceBlock(state, blockOf(2)), `${before}\n${blockOf(2)}\n${behind}`)
      assert.equal(textOutsideBlock(replaceBlock(state, blockOf(2))), textOutsideBlock(state))
    }),
  )
})

test('I7: extracting and inserting the block gives the same text; a text written in between gets one block', () => {
  fc.assert(
    fc.property(text, (before) => {
      assert.equal(insertBlock(extractBlock(before)), before)
      const state = replaceBlock(before, blockOf(1))
      const { text: rest, block } = extractBlock(state)
      const written = insertBlock({ text: `a line\n${rest}`, block })
      assert.equal(written, `a line\n${state}`)
      assert.equal(textOutsideBlock(insertBlock({ text: 'all new', block })), 'all new')
      const fake = `${FAKE}\nall new`
      assert.equal(insertBlock({ text: fake, block }).startsWith(fake), true, 'no other text is its position')
      assert.equal(
        changeOutsideBlock(state, (outside) => outside),
        state,
      )
    }),
  )
})

test('case 127: one block after a hundred cycles; marks, tables and headings in other text stay', () => {
  const before = `# Kernel State\n| a \\| b |\n${START}\nnot ours\n${END}\n### cycle_history\n| x |\n${START} ${FAKE}`
  let state = before
  for (let n = 1; n <= 100; n += 1) state = replaceBlock(state, blockOf(n))
  assert.equal(state.startsWith(`${before}\n${START}\n## kernel_runtime\n`), true)
  assert.equal(state.split('- cycle_id: ').length, 2)
  assert.ok(state.includes('- cycle_id: c100\n'))
})

test('E2: an existing block is replaced in place; one without an end mark is left alone, and ours is added', () => {
  const old = `# a\n${START}\n## kernel_runtime\n- status: old\n${END}\n# b\n`
  assert.equal(replaceBlock(old, blockOf(1)), `# a\n${blockOf(1)}\n# b\n`)
  assert.equal(textOutsideBlock(old), '# a\n# b\n')
  const torn = `# a\n${START}\n## kernel_runtime\n- status: old\n# b\n`
  assert.equal(replaceBlock(torn, blockOf(1)), `${torn}\n${blockOf(1)}\n`)
  assert.equal(textOutsideBlock(replaceBlock(torn, blockOf(1))), torn)
})

test('I7: a change outside the block cannot touch it, at the end or between other lines', () => {
  const added = replaceBlock('a\nb', blockOf(1))
  assert.equal(
    changeOutsideBlock(added, (outside) => `${outside}c`),
    replaceBlock('a\nbc', blockOf(1)),
  )
  const between = `a\n${blockOf(1)}\nb\n`
  assert.equal(
    changeOutsideBlock(between, (outside) => outside.replaceAll(/[a-z]/g, 'x')),
    `x\n${blockOf(1)}\nx\n`,
  )
  assert.equal(
    changeOutsideBlock('a', (outside) => `${outside}b`),
    'ab',
  )
  assert.deepEqual([START, `a ${END} b`, 'KERNEL_RUNTIME'].map(hasBlockMark), [true, true, false])
})

test('E2: a file with changed line breaks keeps its block and its line breaks', () => {
  const state = replaceBlock('# a\n', blockOf(1)).replaceAll('\n', '\r\n')
  assert.equal(replaceBlock(state, blockOf(2)), replaceBlock('# a\n', blockOf(2)).replaceAll('\n', '\r\n'))
  assert.equal(textOutsideBlock(state), '# a\r\n')
})

test('case 127, E2: of several blocks in an edit, ours is at its old position, else an exact copy, else none', () => {
  const ours = blockOf(1)
  const before = extractBlock(`# a\n${ours}\n# b\n`)
  const textOf = (edit: string): string => extractEditedBlock(edit, before).text
  assert.equal(textOf(`# a\n${ours}\n# b\n${ours}\n`), `# a\n\0\n# b\n${ours}\n`)
  assert.equal(textOf(`${FAKE}\n# a\n${ours}\n# b\n`), `${FAKE}\n# a\n\0\n# b\n`)
  assert.equal(textOf(`# a\n${FAKE}\n# b\n`), '# a\n\0\n# b\n', 'an edit inside our block')
  assert.equal(textOf(`# new\n${ours}`), '# new\n\0', 'moved')
  assert.equal(textOf(`# b\n${FAKE}\n# c\n`), `# b\n${FAKE}\n# c\n`, 'our block was deleted')
  assert.equal(textOf(`# a\n${ours}\n# b\n`.replaceAll('\n', '\r\n')), '# a\r\n\0\r\n# b\r\n')
})

test('case 127, I7: a block without its closing mark is ordinary text, up to the next mark', () => {
  const torn = blockOf(1).slice(0, -END.length)
  const edit = `# a\n${torn}\ntext of the owner\n${FAKE}\n# b\n`
  const { text, block } = extractEditedBlock(edit, extractBlock(`# a\n${blockOf(1)}\n# b\n`))
  assert.ok(text.includes('text of the owner'), text)
  assert.ok(!block?.includes('text of the owner'))
})

test('case 127, E2: an edit that deletes our block keeps an exact copy that was pasted before', () => {
  const edit = `# a\n${blockOf(1)}\n# b\n`
  assert.deepEqual(extractEditedBlock(edit, extractBlock(`${edit}${blockOf(1)}\n`)), { text: edit, block: null })
})

test('case 127, I7: whatever is pasted, our block is the last one, and all other text is unchanged', () => {
  fc.assert(
    fc.property(text, text, (before, behind) => {
      const whole = placeBlockLast({ text: `${before}\n\0\n${behind}`, block: blockOf(1) })
      assert.equal(extractBlock(whole).block?.replaceAll('\r\n', '\n'), blockOf(1))
      const isMoved = !whole.startsWith(`${before}\n${blockOf(1)}\n`)
      assert.equal(
        isMoved ? textOutsideBlock(whole) : whole,
        isMoved ? `${before}\n${behind}` : `${before}\n${blockOf(1)}\n${behind}`,
      )
      const added = placeBlockLast({ text: before, block: null })
      assert.equal(textOutsideBlock(added), before)
      assert.equal(textOutsideBlock(replaceBlock(added, blockOf(2))), before)
    }),
  )
})
