/** Texts of the part Log of Settings. */

const en = {
  intro:
    'What the program noted about itself: starts, ends and failures of runs, warnings, errors. Steps ' +
    'are in the run itself.',
  search: 'Search',
  searchHelp: 'A text in any part of an entry',
  level: 'Show',
  levels: { info: 'everything', warn: 'warnings and errors', error: 'errors only' },
  follow: 'Follow live',
  list: 'Entries, newest first',
  empty: 'Nothing has been noted yet.',
  noMatch: 'No entry matches. Try another text, or show everything.',
  loading: 'Loading older entries …',
  names: { info: 'info', warn: 'warning', error: 'error' } as Readonly<Record<string, string>>,
  openRun: 'Open the run',
}

const zh: typeof en = {
  intro: '程序对自身的记录：运行的开始、结束和失败，警告和错误。各个步骤见运行本身。',
  search: '搜索',
  searchHelp: '条目任何部分里的文字',
  level: '显示',
  levels: { info: '全部', warn: '警告和错误', error: '只看错误' },
  follow: '实时跟踪',
  list: '条目，最新的在前',
  empty: '还没有记录。',
  noMatch: '没有符合的条目。换一个文字，或显示全部。',
  loading: '正在加载更早的条目……',
  names: { info: '信息', warn: '警告', error: '错误' },
  openRun: '打开这次运行',
}

export const LOG_TEXTS = { en, zh }
