/** Files of a workspace over HTTP: only for the owner, only inside the workspace, nothing that a browser executes. */

import assert from 'node:assert/strict'
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openHttpApp, sendRequest } from './support/http-app.ts'
import { freshFolder } from './support/open-app.ts'

test('HTTP: files of a workspace are sent as text, image or attachment; nothing outside it is sent', async (t) => {
  const served = await openHttpApp(t)
  const { session_id: session, workspace } = await served.app.run('enqueue', { prompt: 'later', at: '1h' })
  const early = `/api/v1/files?${new URLSearchParams({ session, path: 'report.md' })}`
  const before = await sendRequest(served, early, { headers: served.bearer })
  assert.deepEqual([before.status, before.code], [404, 'not_found'], 'no run has opened the workspace yet')
  const outside = freshFolder(t, 'outside')
  writeFileSync(join(outside, 'secret.txt'), 'secret')
  mkdirSync(join(workspace, 'sub'), { recursive: true })
  writeFileSync(join(workspace, 'sub', '报告 "1".md'), '# 报告')
  writeFileSync(join(workspace, 'page.html'), '<script>1</script>')
  writeFileSync(join(workspace, 'image.svg'), '<svg onload="1"/>')
  writeFileSync(join(workspace, 'data.bin'), Buffer.from([0, 1, 2, 255]))
  symlinkSync(join(outside, 'secret.txt'), join(workspace, 'link.txt'))
  linkSync(join(outside, 'secret.txt'), join(workspace, 'hard.txt'))
  symlinkSync(outside, join(workspace, 'folder'))
  const get = (path: string, more = {}, headers: Readonly<Record<string, string>> = served.bearer) =>
    sendRequest(served, `/api/v1/files?${new URLSearchParams({ session, path, ...more })}`, { headers })

  const report = await get('sub/报告 "1".md')
  assert.equal(report.text, '# 报告')
  const { 'content-type': type, 'content-disposition': disposition } = report.headers
  assert.equal(type, 'text/plain; charset=utf-8')
  assert.equal(disposition, `inline; filename="____1_.md"; filename*=UTF-8''%E6%8A%A5%E5%91%8A%20%221%22.md`)
  for (const path of ['page.html', 'image.svg']) {
    const { headers } = await get(path)
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8', path)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.match(String(headers['content-security-policy']), /default-src 'none'; sandbox/)
  }
  for (const answer of [await get('data.bin'), await get('page.html', { download: '1' })]) {
    assert.equal(answer.headers['content-type'], 'application/octet-stream')
    assert.match(String(answer.headers['content-disposition']), /^attachment; /)
  }
  const refused = ['link.txt', 'hard.txt', 'folder/secret.txt', '../../token', join(outside, 'secret.txt'), 'a\0b', '.']
  for (const path of refused) {
    const { status, text } = await get(path)
    assert.ok(status === 400 || status === 404, `${path}: ${status}`)
    assert.doesNotMatch(text, /secret"?$/)
  }
  assert.equal((await get('missing.md')).status, 404)
  assert.equal((await get('')).status, 404)
  assert.equal((await get('page.html', { session: 'none' })).status, 404)
  assert.equal((await get('page.html', {}, {})).status, 401)
})
