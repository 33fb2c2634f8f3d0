// The types of `app/vendor/preact.js`, as far as the console uses them.

export interface Signal<T> {
    value: T;
    peek(): T;
    subscribe(listener: (value: T) => void): () => void;
}
export function signal<T>(value: T): Signal<T>;
export function effect(run: () => void | (() => void)): () => void;

export function html(strings: TemplateStringsArray, ...values: unknown[]): any;
export function render(tree: unknown, parent: Element): void;

export interface Ref<T> {
    current: T;
}
type Dependencies = readonly unknown[];
export function useState<T>(initial: T | (() => T)): [T, (next: T | ((before: T) => T)) => void];
export function useRef<T>(initial: T): Ref<T>;
export function useEffect(run: () => void | (() => void), dependencies?: Dependencies): void;
export function useLayoutEffect(run: () => void | (() => void), dependencies?: Dependencies): void;
export function useMemo<T>(make: () => T, dependencies: Dependencies): T;
export function useCallback<T extends (...given: never[]) => unknown>(call: T, dependencies: Dependencies): T;
export function useId(): string;
export function useErrorBoundary(): [Error | undefined, () => void];
