/** Written in by the build; see site/pipeline/bundle.py. */
declare const WIKI_WORKER: string;
declare const WIKI_MANIFEST: string;
declare const WIKI_WORDS: Record<string, Record<string, string>>;
