/** Texts of differences between two versions of a text. */

const en = {
  region: 'Difference',
  equal: 'Both versions have the same lines.',
  skipped: (count: number) => `${count} unchanged ${count === 1 ? 'line' : 'lines'}`,
  rest: (count: number) => `Show ${count} more ${count === 1 ? 'line' : 'lines'}`,
  stat: (added: number, removed: number) => `${added} added, ${removed} removed`,
  layout: 'Layout of differences',
  layouts: { unified: 'One column', split: 'Side by side' },
}

const zh: typeof en = {
  region: '差异',
  equal: '两个版本的行完全相同。',
  skipped: (count) => `${count} 行未变`,
  rest: (count) => `再显示 ${count} 行`,
  stat: (added, removed) => `新增 ${added} 行，删除 ${removed} 行`,
  layout: '差异的排列方式',
  layouts: { unified: '单栏', split: '并排' },
}

export const DIFF_TEXTS = { en, zh }
