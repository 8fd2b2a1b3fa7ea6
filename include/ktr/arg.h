/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the macros find out about a class and an argument at compile time.
 *
 *	KTR__TYPE(x)	enum ktr_arg_type of x, a constant; x is not evaluated
 *	KTR__BITS(x)	x as a 64-bit word, evaluated once: integers extended by their own sign,
 *			pointers as they are, floating point as the bits of a double
 *	KTR__LITERAL(x)	x if it is a string literal, a constant; else NULL; x is not evaluated
 *	KTR__MASK(m)	the class's bits now; KTR__STATIC_MASK and _CLASS: what is known at compile time
 */
#ifndef KTR_ARG_H
#define KTR_ARG_H

#include <ktr/site.h>

#include <stdint.h>

#define KTR__APP_MASK (KTR_ALL << KTR_CLASS_APP_FIRST)

static inline uint64_t ktr__double_bits(double x)
{
	uint64_t bits;

	__builtin_memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static inline uint64_t ktr__word(uint64_t x)
{
	return x;
}

#ifndef __cplusplus

/* The conditional promotes bit-fields, which match no listed type, to int or unsigned. */
#define KTR__TYPE(x)                                                                             \
	__extension__ _Generic((x),                                                              \
		_Bool: KTR_ARG_U8,                                                               \
		char: (char)-1 < 0 ? KTR_ARG_I8 : KTR_ARG_U8,                                    \
		signed char: KTR_ARG_I8,                                                         \
		unsigned char: KTR_ARG_U8,                                                       \
		short: KTR_ARG_I16,                                                              \
		unsigned short: KTR_ARG_U16,                                                     \
		int: KTR_ARG_I32,                                                                \
		unsigned: KTR_ARG_U32,                                                           \
		long: KTR_ARG_I64,                                                               \
		unsigned long: KTR_ARG_U64,                                                      \
		long long: KTR_ARG_I64,                                                          \
		unsigned long long: KTR_ARG_U64,                                                 \
		float: KTR_ARG_F64,                                                              \
		double: KTR_ARG_F64,                                                             \
		long double: KTR_ARG_F64,                                                        \
		char *: KTR_ARG_STR,                                                             \
		const char *: KTR_ARG_STR,                                                       \
		default: _Generic(0 ? 0 : (x),                                                   \
			int: KTR_ARG_I32,                                                        \
			unsigned: KTR_ARG_U32,                                                   \
			long: KTR_ARG_I64,                                                       \
			unsigned long: KTR_ARG_U64,                                              \
			default: KTR_ARG_PTR))

#define KTR__BITS(x)                                                                             \
	__extension__ _Generic((x),                                                              \
		float: ktr__double_bits,                                                         \
		double: ktr__double_bits,                                                        \
		long double: ktr__double_bits,                                                   \
		default: ktr__word)(_Generic((x),                                                \
			float: (x),                                                              \
			double: (x),                                                             \
			long double: (double)_Generic((x), long double: (x), default: 0),        \
			default: (uint64_t)(uintptr_t)(x)))

/*
 * Of addresses that of a literal alone is a constant to __builtin_constant_p(): an array may change. So is a number
 * that was made a pointer; but that can be multiplied.
 */
#define KTR__TEXT(x) _Generic((x), char *: (x), const char *: (x), default: (const char *)0)
#define KTR__LITERAL(x)                                                                          \
	__extension__ __builtin_choose_expr(                                                     \
		__builtin_constant_p(x) && !__builtin_constant_p((uintptr_t)KTR__TEXT(x) * 3),   \
		KTR__TEXT(x), (const char *)0)

#define KTR__COMPILE_MASK(m)                                                                     \
	__extension__ _Generic((m),                                                              \
		struct ktr_class *: KTR__APP_MASK,                                               \
		const struct ktr_class *: KTR__APP_MASK,                                         \
		default: (uint64_t)(uintptr_t)(m))

#define KTR__MASK(m)                                                                             \
	__extension__ _Generic((m),                                                              \
		struct ktr_class *: __atomic_load_n(                                             \
			&((const struct ktr_class *)(uintptr_t)(m))->mask, __ATOMIC_RELAXED),    \
		const struct ktr_class *: __atomic_load_n(                                       \
			&((const struct ktr_class *)(uintptr_t)(m))->mask, __ATOMIC_RELAXED),    \
		default: (uint64_t)(uintptr_t)(m))

#define KTR__STATIC_MASK(m)                                                                      \
	__extension__ _Generic((m),                                                              \
		struct ktr_class *: 0,                                                           \
		const struct ktr_class *: 0,                                                     \
		default: __builtin_choose_expr(__builtin_constant_p(m),                          \
					       (uint64_t)(uintptr_t)(m), 0))

#define KTR__STATIC_CLASS(m)                                                                     \
	__extension__ _Generic((m),                                                              \
		struct ktr_class *: (m),                                                         \
		const struct ktr_class *: (m),                                                   \
		default: (const struct ktr_class *)0)

#else /* C++ */

extern "C++" {

#include <type_traits>

/* C++11 will do: one expression in a constexpr function, no if constexpr. */
template <class T, bool is_enum = std::is_enum<T>::value> struct ktr__number {
	typedef T type;
};

template <class T> struct ktr__number<T, true> {
	typedef typename std::underlying_type<T>::type type;
};

/* What T points to, const or not; T itself where it is no pointer. */
template <class T> struct ktr__target {
	typedef typename std::remove_cv<typename std::remove_pointer<T>::type>::type type;
};

template <class T> struct ktr__arg {
	typedef typename ktr__number<T>::type number;
	static constexpr bool is_text =
		std::is_pointer<T>::value && std::is_same<typename ktr__target<T>::type, char>::value;
	static constexpr bool is_address =
		std::is_pointer<T>::value || std::is_same<T, std::nullptr_t>::value;
	static constexpr bool is_float = std::is_floating_point<T>::value;
	static_assert(is_address || is_float || (std::is_integral<number>::value && sizeof(T) <= 8),
		      "ktr: an argument is a number, an enumerator or a pointer");
	static constexpr bool is_signed = std::is_signed<number>::value;
	static constexpr uint8_t type = is_float      ? KTR_ARG_F64 :
					is_text	      ? KTR_ARG_STR :
					is_address    ? KTR_ARG_PTR :
					sizeof(T) == 1 ? (is_signed ? KTR_ARG_I8 : KTR_ARG_U8) :
					sizeof(T) == 2 ? (is_signed ? KTR_ARG_I16 : KTR_ARG_U16) :
					sizeof(T) == 4 ? (is_signed ? KTR_ARG_I32 : KTR_ARG_U32) :
							 (is_signed ? KTR_ARG_I64 : KTR_ARG_U64);
};

template <class T, bool is_float = std::is_floating_point<T>::value> struct ktr__to_word {
	static inline uint64_t bits(T x)
	{
		return static_cast<uint64_t>(x);
	}
};

template <class T> struct ktr__to_word<T, true> {
	static inline uint64_t bits(T x)
	{
		return ktr__double_bits(static_cast<double>(x));
	}
};

template <class T> struct ktr__to_word<T *, false> {
	static inline uint64_t bits(T *x)
	{
		return reinterpret_cast<uintptr_t>(x);
	}
};

template <> struct ktr__to_word<std::nullptr_t, false> {
	static inline uint64_t bits(std::nullptr_t)
	{
		return 0;
	}
};

template <class T> inline uint64_t ktr__bits(T x)
{
	return ktr__to_word<T>::bits(x);
}

template <class T, bool is_text = ktr__arg<T>::is_text> struct ktr__literal_of {
	static constexpr const char *text(T)
	{
		return "";
	}
};

template <class T> struct ktr__literal_of<T, true> {
	static constexpr const char *text(T x)
	{
		return x;
	}
};

/*
 * A class is a pointer to struct ktr_class, const or not, or a number. The template is the better match for
 * any pointer but exactly the one a function names, and would take the address for the mask: it takes none.
 */
template <class T> struct ktr__is_class {
	static constexpr bool value = std::is_pointer<T>::value &&
				      std::is_same<typename ktr__target<T>::type, struct ktr_class>::value;
	static_assert(value || !std::is_pointer<T>::value,
		      "ktr: a class is KTR_CLASS(name) or a number");
};

template <class T, bool is_class = ktr__is_class<T>::value> struct ktr__class_of {
	static inline uint64_t mask(T m)
	{
		return static_cast<uint64_t>(m);
	}
	static constexpr uint64_t static_mask(T m)
	{
		return static_cast<uint64_t>(m);
	}
	static constexpr const struct ktr_class *static_class(T)
	{
		return nullptr;
	}
};

template <class T> struct ktr__class_of<T, true> {
	static inline uint64_t mask(T cls)
	{
		return __atomic_load_n(&cls->mask, __ATOMIC_RELAXED);
	}
	static constexpr uint64_t static_mask(T)
	{
		return 0;
	}
	static constexpr const struct ktr_class *static_class(T cls)
	{
		return cls;
	}
};

} /* extern "C++" */

#define KTR__PLAIN(x)	    typename std::decay<decltype((x))>::type
#define KTR__TYPE(x)	    ktr__arg<KTR__PLAIN(x)>::type
#define KTR__BITS(x)	    ktr__bits(x)
/* As in C; that of a number that was made a pointer nobody can look at. */
#define KTR__TEXT(x) ktr__literal_of<KTR__PLAIN(x)>::text(x)
#define KTR__LITERAL(x)                                                                          \
	(ktr__arg<KTR__PLAIN(x)>::is_text && __builtin_constant_p(x) &&                          \
			 __builtin_constant_p(*KTR__TEXT(x)) ?                                   \
		 KTR__TEXT(x) :                                                                  \
		 nullptr)
#define KTR__IS_CLASS(m)    ktr__is_class<KTR__PLAIN(m)>::value
/* No call: g++ does not fold a constexpr function in a condition at -O0. */
#define KTR__COMPILE_MASK(m) (KTR__IS_CLASS(m) ? KTR__APP_MASK : uintptr_t(m))
#define KTR__MASK(m)	     ktr__class_of<KTR__PLAIN(m)>::mask(m)
/* A number that only the running program knows is no part of the site, as in C. */
#define KTR__STATIC_MASK(m)                                                                      \
	(__builtin_constant_p(m) ? ktr__class_of<KTR__PLAIN(m)>::static_mask(m) : 0)
#define KTR__STATIC_CLASS(m) (KTR__IS_CLASS(m) ? ktr__class_of<KTR__PLAIN(m)>::static_class(m) : nullptr)

#endif

#endif
