/*
 * base/list.h - a doubly linked list whose links are embedded in its members.
 *
 * A head and a link have the same type. A link outside any list points to itself, so removing it
 * twice is harmless.
 */
#ifndef ED_BASE_LIST_H
#define ED_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct ed_list {
        struct ed_list *next;
        struct ed_list *prev;
};

/* The cast through void * is needed because the compiler cannot see that the alignments match. */
#define ed_container_of(ptr, type, member)                                                         \
        ((type *) (void *) ((char *) (ptr) -offsetof(type, member)))

/* Walks a list; the current link must stay in it. */
#define ed_list_each(link, head)                                                                   \
        for (struct ed_list *link = (head)->next; link != (head); link = link->next)

/* Walks a list; the current link may be removed. */
#define ed_list_each_safe(link, head)                                                              \
        for (struct ed_list *link = (head)->next, *link##_next = link->next; link != (head);       \
             link = link##_next, link##_next = link->next)

static inline void ed_list_init(struct ed_list *list)
{
        list->next = list;
        list->prev = list;
}

static inline bool ed_list_is_empty(const struct ed_list *list)
{
        return list->next == list;
}

static inline void ed_list_push_back(struct ed_list *head, struct ed_list *link)
{
        link->next = head;
        link->prev = head->prev;
        head->prev->next = link;
        head->prev = link;
}

static inline void ed_list_push_front(struct ed_list *head, struct ed_list *link)
{
        ed_list_push_back(head->next, link);
}

static inline void ed_list_remove(struct ed_list *link)
{
        link->prev->next = link->next;
        link->next->prev = link->prev;
        ed_list_init(link);
}

/* As ed_list_remove(), for a link that is not read before it is pushed again. */
static inline void ed_list_unlink(struct ed_list *link)
{
        struct ed_list *next = link->next, *prev = link->prev;

        prev->next = next;
        next->prev = prev;
}

/* Remove and return the first link, or NULL. */
static inline struct ed_list *ed_list_pop_front(struct ed_list *head)
{
        struct ed_list *link = head->next;

        if (link == head)
                return NULL;
        ed_list_remove(link);
        return link;
}

/* Append all links of 'from', which becomes empty. */
static inline void ed_list_splice_back(struct ed_list *head, struct ed_list *from)
{
        if (ed_list_is_empty(from))
                return;
        from->next->prev = head->prev;
        from->prev->next = head;
        head->prev->next = from->next;
        head->prev = from->prev;
        ed_list_init(from);
}

#endif
