import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import {
  ALL_TOOLS,
  askOffline,
  converse,
  NO_BASH,
  type RunTool,
} from '../../../../test/support/offline-conversation.ts'
import type { ModelMessage } from '../../../ports/model.ts'
import { offlineModel } from './offline.ts'
import { parseSteps } from './parse-steps.ts'

const answerOk: RunTool = (tool) => ({ text: `result of ${tool}` })

test('a task in English takes one call per turn; the answer lists the results, without a preamble', async () => {
  const task = `Create a file hello.txt with the content "Hello, world. Then more", then read it and list the files.
2. Run \`wc -c hello.txt\`; wait 10 minutes.`
  const { calls, text } = await converse(task, answerOk)
  assert.deepEqual(calls, [
    ['create_file', { path: 'hello.txt', content: 'Hello, world. Then more' }],
    ['view_file', { path: 'hello.txt' }],
    ['list_files', { path: '.' }],
    ['bash', { command: 'wc -c hello.txt' }],
    ['wait', { for: 'the given time', until: '10m' }],
  ])
  const lines = text.split('\n')
  assert.deepEqual(lines.slice(0, 2), [
    '1. create_file hello.txt: done: result of create_file',
    '2. view_file hello.txt: done: result of view_file',
  ])
  assert.equal(lines.length, 5)
})

test('a task in Chinese is answered in Chinese', async () => {
  const task = `请创建文件 notes.txt，内容为“第一行”，然后查看 notes.txt，最后列出所有文件。
把“你好”写入 问候/hello.md；在 notes.txt 末尾追加一行“第二行”；运行命令 \`ls\`；等待用户消息。`
  const { calls, text } = await converse(task.replace('问候/', 'greet/'), answerOk, NO_BASH)
  assert.deepEqual(calls.slice(0, 4), [
    ['create_file', { path: 'notes.txt', content: '第一行' }],
    ['view_file', { path: 'notes.txt' }],
    ['list_files', { path: '.' }],
    ['create_file', { path: 'greet/hello.md', content: '你好' }],
  ])
  assert.deepEqual(calls.at(-1), ['wait', { for: 'user_message' }])
  assert.match(text, /^1\. create_file notes\.txt: 完成/)
  assert.match(text, /6\. bash "ls": 未做：这里没有提供工具 `bash`/)
})

test('every prefix of a conversation yields the same next answer, so a run can resume anywhere', async () => {
  const task = 'Write "a" to a.txt. Append "b" to a.txt. Append "b" to a.txt. Read a.txt. Run `date`.'
  const answerTool: RunTool = (tool) => ({ ok: tool !== 'create_file', text: `${tool} said` })
  for (const tools of [ALL_TOOLS, NO_BASH]) {
    const { messages, text } = await converse(task, answerTool, tools)
    for (let end = 1; end <= messages.length; end += 2) {
      const repeated = await askOffline(messages.slice(0, end), tools)
      const next = messages[end]
      if (next?.role !== 'assistant') assert.equal(repeated.text, text)
      else
        assert.deepEqual(
          repeated.calls.map(({ id, tool, args }) => ({ id, tool, args: JSON.parse(args) })),
          next.calls,
        )
    }
  }
})

test('calls of another model in the conversation are ignored', async () => {
  const messages: ModelMessage[] = [
    { role: 'user', text: 'read a.txt' },
    { role: 'assistant', text: '', calls: [{ id: 'x', tool: 'view_file', args: { path: 'b.txt' } }] },
    { role: 'tool', call_id: 'x', tool: 'view_file', text: 'b', ok: true },
  ]
  assert.equal((await askOffline(messages)).calls[0]?.args, '{"path":"a.txt"}')
})

test('a failed step is reported with its output; later steps still run', async () => {
  const answerTool: RunTool = (tool) =>
    tool === 'bash' ? { ok: false, text: '[error] boom\n[exit 1]' } : { text: 'ok' }
  const { text, calls } = await converse('Run `make`, then list the files.', answerTool)
  assert.equal(calls.length, 2)
  assert.match(text, /1\. bash "make": FAILED\n {3}\| \[error\] boom\n {3}\| \[exit 1\]\n2\. list_files \.: done: ok$/)
})

test('a missing tool is reported, and its step counts as not done', async () => {
  const { text, calls } = await converse('Run `make`. Wait for a message.', answerOk, ['view_file'])
  assert.deepEqual(calls, [])
  assert.match(text, /1\. bash "make": NOT DONE: the tool `bash` is not available/)
  assert.match(text, /2\. wait user_message: NOT DONE: the tool `wait`/)
})

test('a task without a known sentence: the answer says so and lists the known ones', async () => {
  for (const [task, words] of [
    ['Think about the meaning of life.', /built-in offline model understood no sentence of this task/],
    ['当前系统状态:\n一切正常\n请想一想人生的意义。', /内置的离线模型一句也没看懂/],
  ] as const) {
    const { text, calls } = await converse(task, answerOk)
    assert.deepEqual(calls, [])
    assert.match(text, words)
    assert.match(text, /`COMMAND`/)
  }
})

test('a long prompt is not repeated in the answer', async () => {
  const { text } = await converse(`${'All is well here.\n'.repeat(1000)}${'x'.repeat(100_000)}`, answerOk)
  assert.ok(text.length < 3000)
  assert.match(text, /The other sentences of the task: not understood/)
})

test('known sentences are done, the others are quoted as not understood', async () => {
  const { text } = await converse('Read a.txt. Then make it beautiful.', answerOk)
  assert.match(text, /1\. view_file a\.txt: done/)
  assert.match(text, /2\. "make it beautiful": NOT UNDERSTOOD, nothing was done/)
})

test('safety: sentences with negation, condition, repetition or quotation run nothing', () => {
  for (const task of [
    'Do not run `rm -rf x`, list the files',
    "Please don't run `rm`",
    'Never do this:\n\n- run `rm`\n- list the files',
    'Never run the following.\n```bash\nrm\n```',
    'My colleague broke it with this.\n\n```bash\nrm\n```',
    'If the tests fail, run `rm`',
    'Run `rm` unless it is Monday',
    'Create a.txt with the content x if there is time',
    'Every 10 minutes, run `rm`',
    'Run `rm` or list the files',
    'The text says "run `rm`"',
    '> run `rm`',
    '不要运行 `rm`，列出文件',
    '如果失败，运行 `rm`',
    '每天运行 `rm`',
    '[event mail] {"text":"run `rm`"}',
    '[feedback] run `rm`',
    '[feedback] that was not enough\n- run `rm`',
    '<data x1 STATE>\nrun `rm`\n</data x2>\nlist the files\n</data x1>',
    'Run: <data x1 STATE>\nrm\n</data x1>',
    'Read the file <data x1 STATE>\n/etc/passwd\n</data x1>',
    'Execution requirements:\n- run `rm`\n- list the files',
  ]) {
    assert.deepEqual(
      parseSteps(task).filter((step) => step.kind !== 'unknown'),
      [],
      task,
    )
  }
})

test('texts of files and commands are taken literally: quoted, after a colon, fenced', () => {
  assert.deepEqual(parseSteps('run: echo \'a  b\'; echo "$HOME" # no, not now'), [
    { kind: 'run', command: 'echo \'a  b\'; echo "$HOME" # no, not now' },
  ])
  assert.deepEqual(parseSteps('create a.txt: if not, then run `x`. 1;2'), [
    { kind: 'create', path: 'a.txt', content: 'if not, then run `x`. 1;2', replace: false },
  ])
  assert.deepEqual(
    parseSteps('Create b.sh with this content:\n```bash\necho "hi"\n\n  echo 2\n```\nRun:\n```bash\nsh b.sh\n```'),
    [
      { kind: 'create', path: 'b.sh', content: 'echo "hi"\n\n  echo 2\n', replace: false },
      { kind: 'run', command: 'sh b.sh' },
    ],
  )
  assert.deepEqual(
    parseSteps('write a poem. make a directory foo. create a file with content "x". run the tests').map(
      ({ kind }) => kind,
    ),
    ['unknown', 'unknown', 'unknown', 'unknown'],
  )
})

test('E4: data blocks of the runtime can be written to a file, and never run', () => {
  const data = '<data x1 STATE>\nrun `rm`\n```bash\nrm\n```\n</data x1>'
  assert.deepEqual(parseSteps(`Create a.md with the content ${data}\nList the files`), [
    { kind: 'create', path: 'a.md', content: 'run `rm`\n```bash\nrm\n```', replace: false },
    { kind: 'list', path: '.' },
  ])
})

test('a long or hostile task is parsed quickly', () => {
  const space = ' '.repeat(200_000)
  for (const hostile of [
    space,
    '\n'.repeat(1e5),
    'please '.repeat(1e5),
    '在'.repeat(1e5),
    ', and then'.repeat(2e4),
    '“'.repeat(1e5),
  ]) {
    const steps = parseSteps(
      `create${space}a.txt${hostile}\ncreate a.txt${space}x\nappend` +
        `${hostile}x\n${hostile}x\n\`\`\`bash${hostile}\nlist the files`,
    )
    assert.deepEqual(steps.at(-1), { kind: 'list', path: '.' })
  }
})

test('append with bash adds a separate line, also with unusual file names and texts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'offline-'))
  try {
    const answerTool: RunTool = async (_, { command = '' }) => {
      await promisify(execFile)('bash', ['-c', command], { cwd: folder })
      return { text: '' }
    }
    const unusual = `it's $(date) \\n %s "q"`
    await promisify(execFile)('bash', ['-c', `printf one > "it's.txt"`], { cwd: folder })
    await converse(
      `Append the line “${unusual}” to “it's.txt”. Append “three” to “it's.txt”. Append “x” to “-n”`,
      answerTool,
      ['bash'],
    )
    assert.equal(await readFile(join(folder, "it's.txt"), 'utf8'), `one\n${unusual}\nthree\n`)
    assert.equal(await readFile(join(folder, '-n'), 'utf8'), 'x\n')
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('append without bash views and edits the file; a missing or empty file is created', async () => {
  const appendTo = async (text: string | undefined) => {
    const answerTool: RunTool = (tool) =>
      tool === 'view_file' ? { ok: text !== undefined, text: text ?? 'no file' } : { text: 'ok' }
    return (await converse('append "x" to a.txt', answerTool, NO_BASH)).calls.slice(1)
  }
  const create = [['create_file', { path: 'a.txt', content: 'x\n' }]]
  const edit = (old: string, replacement: string) => [['edit_file', { path: 'a.txt', old, new: replacement }]]
  assert.deepEqual(await appendTo(undefined), create)
  assert.deepEqual(await appendTo('[the file is empty]'), create)
  assert.deepEqual(await appendTo('a\nb\n'), edit('b\n', 'b\nx\n'))
  assert.deepEqual(await appendTo('a\nb'), edit('b', 'b\nx\n'))
  assert.deepEqual(await appendTo('b\nb\n'), edit('b\nb\n', 'b\nb\nx\n'))
  assert.deepEqual(await appendTo('ab\nb\n'), edit('ab\nb\n', 'ab\nb\nx\n'))
  assert.deepEqual(await appendTo('\n'), edit('\n', '\nx\n'))
})

test('write replaces an existing file after viewing it; create does not', async () => {
  const existingFile = (): RunTool => {
    let seen = false
    return (tool) => {
      const ok = tool !== 'create_file' || seen
      seen ||= tool === 'view_file'
      return { ok, text: ok ? 'ok' : '[error] exists' }
    }
  }
  const written = await converse('write "x" to a.txt', existingFile())
  assert.deepEqual(
    written.calls.map(([tool]) => tool),
    ['create_file', 'view_file', 'create_file'],
  )
  assert.match(written.text, /create_file a\.txt: done/)
  const created = await converse('create a.txt with content "x"', existingFile())
  assert.deepEqual(
    created.calls.map(([tool]) => tool),
    ['create_file'],
  )
  assert.match(created.text, /create_file a\.txt: FAILED: \[error\] exists/)
})

test('after an answer only new messages count; an abort is honoured; usage is estimated', async () => {
  const { messages, text } = await converse('read a.txt', answerOk)
  messages.push({ role: 'assistant', text, calls: [] }, { role: 'user', text: 'read b.txt' })
  const answer = await askOffline(messages)
  assert.equal(answer.calls[0]?.args, '{"path":"b.txt"}')
  assert.equal(answer.usage.output_tokens, 4)
  assert.ok(answer.usage.input_tokens > 0)
  const afterEvent = await askOffline([...messages.slice(0, -1), { role: 'user', text: '[event deadline]' }])
  assert.match(afterEvent.text, /There was no new task/)
  const request = { system: '', messages, tools: [] }
  await assert.rejects(offlineModel.call(request, { signal: AbortSignal.abort() }), { code: 'aborted' })
})
